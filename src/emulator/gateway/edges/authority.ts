// The X.509 library below uses decorators that need this import first.
import 'reflect-metadata'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { makeKey, toPem } from '../../ssh/authority-key.ts'
import type { Store } from '../../store/emulator-store.ts'
import { isJsonObject } from '../../values/json.ts'

/** Key in `meta` of the authority: certificate and private key in PEM. */
const AUTHORITY = 'gateway_authority'
const DAY = 24 * 3600 * 1000
/** As long as the emulated ones (`certificates/provisioning.ts`). */
const LEAF_DAYS = 90
const ROOT_DAYS = 3650
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' }
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
/** The most certificates that are kept in memory. */
const MOST = 1000

/** A certificate with its private key, both in PEM. */
export interface Credentials {
  readonly cert: string
  readonly key: string
}

/** Private keys of certificates (`management-api.md § Domains, addresses, ingress`). */
export type CertificateKeyType = 'rsa' | 'ecdsa'

/**
 * Issues the certificates that TLS edges present, with a root of its own that no browser trusts. Times are the
 * machine's, as clients check them by it.
 */
export class EdgeAuthority {
  readonly #store: Store
  readonly #now: () => number
  #root: Promise<Credentials> | undefined
  readonly #issued = new Map<string, Promise<Credentials>>()

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
    store.changes.watch({
      changed: () => undefined,
      cleared: () => {
        this.#root = undefined
        this.#issued.clear()
      },
    })
  }

  /** The root certificate in PEM, made when it is first needed and kept in the data file. */
  async root(): Promise<string> {
    return (await this.#authority()).cert
  }

  /**
   * The certificate for a name, which may begin with `*.`.
   *
   * @param id the API's id of the certificate; another one is another certificate
   */
  issue(id: string, name: string, type: CertificateKeyType): Promise<Credentials> {
    const key = `${id} ${name} ${type}`
    const known = this.#issued.get(key)
    if (known !== undefined) return known
    const made = this.#make(name, type)
    this.#issued.set(key, made)
    made.catch(() => this.#issued.delete(key))
    const [oldest] = this.#issued.keys()
    if (this.#issued.size > MOST && oldest !== undefined) this.#issued.delete(oldest)
    return made
  }

  #authority(): Promise<Credentials> {
    this.#root ??= this.#readOrMake()
    return this.#root
  }

  async #readOrMake(): Promise<Credentials> {
    const stored: unknown = JSON.parse(this.#store.getMeta(AUTHORITY) ?? 'null')
    if (isJsonObject(stored)) return { cert: String(stored.cert), key: String(stored.key) }
    const made = await makeRoot(this.#now())
    if (this.#store.database.isOpen) this.#store.setMeta(AUTHORITY, JSON.stringify(made))
    return made
  }

  async #make(name: string, type: CertificateKeyType): Promise<Credentials> {
    const { cert, key } = await this.#authority()
    const privateKey = await makeKey(type === 'rsa' ? { type: 'rsa', bits: 2048 } : { type: 'ecdsa', curve: 'P-256' })
    const signer = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const publicKey = createPublicKey(privateKey).toCryptoKey(type === 'rsa' ? signer : SIGNATURE, true, ['verify'])
    const now = this.#now()
    const issued = await X509CertificateGenerator.create({
      subject: `CN=${name}`.slice(0, 64),
      issuer: new X509Certificate(cert).subjectName,
      notBefore: new Date(now - DAY),
      notAfter: new Date(now + LEAF_DAYS * DAY),
      publicKey,
      signingKey: createPrivateKey(key).toCryptoKey(SIGNATURE, false, ['sign']),
      signingAlgorithm: SIGNATURE,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
        new ExtendedKeyUsageExtension([SERVER_AUTH]),
        new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
      ],
    })
    return { cert: `${issued.toString('pem')}\n${cert}`, key: toPem(privateKey) }
  }
}

async function makeRoot(now: number): Promise<Credentials> {
  const privateKey = await makeKey({ type: 'ecdsa', curve: 'P-256' })
  const root = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Culvert emulator',
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + ROOT_DAYS * DAY),
    keys: {
      privateKey: privateKey.toCryptoKey(SIGNATURE, false, ['sign']),
      publicKey: createPublicKey(privateKey).toCryptoKey(SIGNATURE, true, ['verify']),
    },
    signingAlgorithm: SIGNATURE,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  return { cert: root.toString('pem'), key: toPem(privateKey) }
}
