import { requireOpenSSH } from '../builders/openssh.ts'

/** The suite validates SSH certificates with the one, and connects agents with the other. */
export default (): Promise<void> => requireOpenSSH('ssh-keygen', 'ssh')
