import { requireOpenSSH } from '../builders/openssh.ts'

/** The judge of SSH certificates has to be there. */
export default (): Promise<void> => requireOpenSSH('ssh-keygen')
