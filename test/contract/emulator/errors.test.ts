import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../../src/emulator/emulator.ts'
import { ERRORS } from '../../../src/emulator/values/request-error.ts'
import { at, EmulatorClient } from '../../builders/emulator-client.ts'

describe('errors', () => {
  it('are listed in the documentation as the table of codes has them', async () => {
    const page = await readFile(new URL('../../../docs/emulator.md', import.meta.url), 'utf8')
    const listed = page.split('\n').filter((line) => line.startsWith('| ERR_'))
    const wanted = Object.values(ERRORS).map(({ code, status, meaning }) => `| ${code} | ${status} | ${meaning} |`)
    expect(listed).toEqual(wanted)
  })

  it('have one code each', () => {
    const codes = Object.values(ERRORS).map((kind) => kind.code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it('of bytes that are no HTTP request are answered in the same form', async () => {
    const emulator = await startEmulator()
    const socket = connect(Number(new URL(emulator.url).port), '127.0.0.1')
    socket.write('NONSENSE\r\n\r\n')
    let received = ''
    for await (const chunk of socket) received += String(chunk)
    const body: unknown = JSON.parse(received.slice(received.indexOf('\r\n\r\n')))
    expect(received).toMatch(/^HTTP\/1.1 400 /)
    expect(at(body, 'status_code')).toBe(400)
    expect(at(body, 'details', 'operation_id')).toMatch(/^op_/)
    await emulator.close()
  })

  it('of a start on a taken port leave nothing behind', async () => {
    const first = await startEmulator()
    const listen = new URL(first.url).host
    await expect(startEmulator({ listen })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await first.close()
    const second = await startEmulator({ listen })
    expect(second.url).toBe(first.url)
    await second.close()
  })

  it('inside the emulator are logged and answered as 500 without their text', async () => {
    const logged: unknown[] = []
    const emulator = await startEmulator({
      logFailure: (_message, error) => logged.push(error),
      random: {
        next: () => {
          throw new Error('the randomness is broken')
        },
        hex: (bytes) => '5'.repeat(bytes * 2),
      },
    })
    const answer = await EmulatorClient.of(emulator).post('/reserved_addrs', {})
    expect(answer.status).toBe(500)
    expect(JSON.stringify(answer.body)).not.toContain('randomness')
    expect(logged).toEqual([expect.objectContaining({ message: 'the randomness is broken' })])
    expect((await EmulatorClient.of(emulator).get('/reserved_addrs')).body.reserved_addrs).toEqual([])
    await emulator.close()
  })
})
