import { requireOpenSSH } from '../builders/openssh.ts'
import { requirePrograms } from '../builders/system-programs.ts'

/** The suite validates SSH certificates, connects agents and speaks TLS with them. */
export default async (): Promise<void> => {
  await requireOpenSSH('ssh-keygen', 'ssh')
  await requirePrograms({ openssl: 'openssl' })
}
