/** Many times the length of the largest key. */
export const PUBLIC_KEY_LENGTH = 16_384
/** More than the maximum number of principals that OpenSSH reads and the largest keys take together. */
export const CERTIFICATE_LENGTH = 131_072
