/** Public keys as `ssh-keygen` writes them, one of each type; their private keys were not kept. */
export const sshKeys = {
  rsa: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDHHCZIu7Ke0flbbQZ+oBpaVJ2R5uYEIU/GUypdo7zv6Y2+07nxYc3TP+escMu1enz0h/J974pAbHg6YtIKD7u9CQIwuaPxXQJRq93i6t04TycWAxhfmT9f97S74dg5QetpWTuUu3QYrVGkHRkcc1derWfyUDskdCpFRRdN9WpE+6tNwA6YRd5DKM++0VCfIwq2152P+lNDTfTXLbXpgGRyXCxZ///sQDUWVkY1m/w7tLeyZJ43rDQX8dZBhLroF9wUb8CXjIoV3g1/ZLYN3KH/ShzocKPxZi4lb0tTnOb+lew7vbDYwvdvgk1uLXufDozyfe0gRyJJjeCn/H6uTdht me@laptop',
  ecdsa256:
    'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBIMM+0v8Eho9LhaziUImxIaFPaNEWxQinY9wOwaXK/uskAOo/4/qIASXAgB1WRACFEJlXzTZOiI6sRai736thr0= me@laptop',
  ecdsa384:
    'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBNUlc7RRlGyRU3MJX8wvFF4otf0/F8Rhjs1FvfkCWOkiIFWCXGWcZS4YTUCwjmpfOW5zNNOuecIrkxZqS7DWd1DW81Gfw7BgN9lkUOn9eOyoy1dha4srdNgkAZQjO5PiTg== me@laptop',
  ecdsa521:
    'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAGPQ1E+oWWkMdvhiwaJUF0fYoqRbbZCp+0fa4+nA2GMwmO+oBVhJJvUD2DrCqydtMcUVCuUowjnu8uhIa0hKCZpWgHapyqFKWfO4ht+LSCylY/4GgKtoWruImMjbk3HrmRLzincEQoZMbJxRIDlf2/2jjW9Dz3y30y7LGloNVmn+0Enag== me@laptop',
  ed25519: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIONcyrIpYBPfb2q3df2M5Se4kcmqFcH9W7jHLbR3jC6v me@laptop',
} as const

/** Keys held in hardware, as `ssh-keygen -t ed25519-sk` and `-t ecdsa-sk` write them. */
export const hardwareKeys = {
  ed25519:
    'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIONcyrIpYBPfb2q3df2M5Se4kcmqFcH9W7jHLbR3jC6vAAAABHNzaDo= me@token',
  ecdsa:
    'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBIMM+0v8Eho9LhaziUImxIaFPaNEWxQinY9wOwaXK/uskAOo/4/qIASXAgB1WRACFEJlXzTZOiI6sRai736thr0AAAAEc3NoOg== me@token',
} as const
