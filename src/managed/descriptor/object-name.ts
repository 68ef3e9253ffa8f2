/** What the apiserver accepts as the name of most objects, in at most 253 characters: a DNS subdomain (RFC 1123). */
export const OBJECT_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'
