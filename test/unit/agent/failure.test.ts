import { describe, expect, test } from 'vitest'
import { type Ending, explain } from '../../../src/agent/failure.ts'

const ENDING: Ending = {
  phase: 'bound',
  gateway: 'ssh.tunnel.example:22',
  key: 'SHA256:own',
  error: undefined,
  farewell: undefined,
  strangeHostKey: undefined,
  unbound: [],
  timedOut: false,
}

const failed = (message: string, members: object = {}): Error => Object.assign(new Error(message), members)

describe('the end of a connection to the gateway', () => {
  test.each<[string, string, Partial<Ending>, string]>([
    [
      'an unknown name',
      'GatewayUnknown',
      { phase: 'dial', error: failed('x', { code: 'ENOTFOUND' }) },
      'has no address',
    ],
    [
      'a closed port',
      'GatewayUnreachable',
      { phase: 'dial', error: failed('x', { code: 'ECONNREFUSED' }) },
      'ECONNREFUSED',
    ],
    ['silence', 'GatewayUnreachable', { phase: 'handshake', timedOut: true }, 'did not respond in time'],
    [
      'another host key',
      'HostKeyDiffers',
      { phase: 'handshake', strangeHostKey: 'SHA256:x', error: failed('Host denied') },
      'SHA256:x',
    ],
    [
      'no pinned type',
      'HostKeyDiffers',
      { phase: 'handshake', error: failed('no matching host key format', { level: 'handshake' }) },
      'pinned type',
    ],
    [
      'a refused key',
      'KeyRefused',
      { phase: 'handshake', error: failed('All', { level: 'client-authentication' }) },
      'SHA256:own',
    ],
    [
      'another protocol',
      'GatewayUnfit',
      { phase: 'handshake', error: failed('Invalid header', { level: 'protocol' }) },
      'Invalid header',
    ],
    [
      'a reset in the handshake',
      'Disconnected',
      { phase: 'handshake', error: failed('x', { level: 'client-socket' }) },
      'before the key',
    ],
    ['a farewell in the handshake', 'Disconnected', { phase: 'handshake', farewell: 'go away' }, 'refuses: go away'],
    [
      'a refused forward with a reason',
      'BindRefused',
      { phase: 'bind', farewell: 'the ACL lacks it' },
      'the ACL lacks it',
    ],
    [
      'a refused forward',
      'BindRefused',
      { phase: 'bind', unbound: ['app=a'], error: failed('Unable to bind') },
      'bind app=a',
    ],
    [
      'a reset while it binds',
      'Disconnected',
      { phase: 'bind', error: failed('x', { level: 'client-socket', code: 'ECONNRESET' }) },
      'ECONNRESET',
    ],
    [
      'a farewell',
      'Disconnected',
      { farewell: 'the session was stopped' },
      'ended the connection: the session was stopped',
    ],
    [
      'a dead gateway',
      'GatewaySilent',
      { error: failed('Keepalive', { level: 'client-timeout' }) },
      'does not respond to keepalives',
    ],
    ['an end without a word', 'Disconnected', {}, 'was closed'],
  ])('by %s is distinguished as %s', (_what, code, ending, said) => {
    const error = explain({ ...ENDING, ...ending })
    expect(error.code).toBe(code)
    expect(error.message).toContain(said)
    expect(error.message).toContain('ssh.tunnel.example:22')
  })

  test('is reported in one line that cannot mislead, whatever the gateway says', () => {
    const { message } = explain({ ...ENDING, farewell: 'one\ntwo\u001b[2J\u202e' })
    expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })
})
