import ipaddr from 'ipaddr.js'

/** What a proxy says of its client; written from the specification of version 2 of the PROXY protocol, § 2.2. */
export interface ProxyHeader {
  /** The client's address; undefined: the connection is the proxy's own. */
  readonly source?: string
  readonly sourcePort?: number
  /** Bytes of extensions. */
  readonly extensions?: Buffer
}

/** The header as a proxy sends it. */
export function proxyHeader({ source, sourcePort = 0, extensions = Buffer.alloc(0) }: ProxyHeader): Buffer {
  const signature = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a])
  const address = source === undefined ? [] : ipaddr.parse(source).toByteArray()
  const ports = source === undefined ? [] : [sourcePort >> 8, sourcePort & 0xff, 0, 80]
  const body = Buffer.concat([Buffer.from([...address, ...address, ...ports]), extensions])
  const family = address.length === 0 ? 0x00 : address.length === 4 ? 0x11 : 0x21
  const length = Buffer.alloc(2)
  length.writeUInt16BE(body.length)
  return Buffer.concat([signature, Buffer.from([source === undefined ? 0x20 : 0x21, family]), length, body])
}
