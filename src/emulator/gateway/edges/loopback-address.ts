import { createHash } from 'node:crypto'

/** Addresses below 127.64.0.0 stay free for what else listens on loopback. */
const FIRST = 0x7f_40_00_00
const COUNT = 0xbf_ff_00

/**
 * The address of 127.64.0.0 to 127.255.254.255 on which a host's edges listen: the same for a name every time, unless
 * another host in use has it. Linux needs no set-up for these addresses. Pure.
 */
export function loopbackAddressOf(host: string, isTaken: (address: string) => boolean): string {
  const start = createHash('sha256').update(host).digest().readUInt32BE(0)
  for (let step = 0; step < COUNT; step += 1) {
    const number = FIRST + ((start + step) % COUNT)
    const address = [number >>> 24, (number >>> 16) & 0xff, (number >>> 8) & 0xff, number & 0xff].join('.')
    if (!isTaken(address)) return address
  }
  throw new Error('every loopback address is taken')
}
