import { generateKeyPairSync, sign } from 'node:crypto'

/** A self-signed certificate for 127.0.0.1 and its key, both PEM. */
export interface ServerCertificate {
  readonly cert: string
  readonly key: string
}

/**
 * Creates a P-256 key and a certificate for it, valid from 2020 to 2049; builds only the few ASN.1 structures of RFC
 * 5280 needed.
 */
export function selfSigned(): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSHA256 = sequence(oid('2a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('127.0.0.1')))))
  const validity = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const alternativeName = sequence(oid('551d11'), der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSHA256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName)),
  )
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const certificate = sequence(body, ecdsaWithSHA256, signature).toString('base64').replace(/.{64}/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...members: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(members))
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}
