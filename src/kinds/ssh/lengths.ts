/** Many times what the largest key takes. */
export const PUBLIC_KEY_LENGTH = 16_384
/** More than as many principals as OpenSSH reads and the largest keys take. */
export const CERTIFICATE_LENGTH = 131_072
