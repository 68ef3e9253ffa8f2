import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A certificate and its private key, in PEM. */
export interface KeyedCertificate {
  readonly cert: string
  readonly key: string
}

/** An authority, with the certificate of a client that it has issued; made by `openssl`. */
export interface ClientAuthority {
  readonly caPem: string
  readonly client: KeyedCertificate
}

/** Makes an authority and a client of it. */
export async function newClientAuthority(name: string): Promise<ClientAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-ca-'))
  const at = (file: string): string => join(folder, file)
  const openssl = (...args: readonly string[]): Promise<unknown> => promisify(execFile)('openssl', args)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await openssl(
    ...['req', '-x509', ...newKey, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', `/CN=${name}`],
  )
  await openssl('req', ...newKey, '-keyout', at('key'), '-out', at('csr'), '-subj', `/CN=client of ${name}`)
  const authority = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial']
  await openssl('x509', '-req', '-in', at('csr'), ...authority, '-out', at('pem'), '-days', '2')
  const [caPem, cert, key] = await Promise.all(['ca.pem', 'pem', 'key'].map((file) => readFile(at(file), 'utf8')))
  await rm(folder, { recursive: true })
  return { caPem: caPem ?? '', client: { cert: cert ?? '', key: key ?? '' } }
}
