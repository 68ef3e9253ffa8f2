import { requireOpenSSH } from '../builders/openssh.ts'

/** The suite validates SSH certificates with it. */
export default (): Promise<void> => requireOpenSSH('ssh-keygen')
