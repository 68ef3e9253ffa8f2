import { printable } from '../util/printable.ts'

/** Why an agent has no tunnel. */
export type FailureCode =
  /** The file of the private key cannot be read, or holds none. */
  | 'KeyUnreadable'
  /** The name of the gateway has no address. */
  | 'GatewayUnknown'
  /** Nothing answers at the address of the gateway, or not in time. */
  | 'GatewayUnreachable'
  /** The gateway does not speak SSH, or not as the agent does. */
  | 'GatewayUnfit'
  /** The gateway has none of the pinned host keys. */
  | 'HostKeyDiffers'
  /** The gateway does not accept the agent's key. */
  | 'KeyRefused'
  /** The gateway accepts the key, but not what is bound with it. */
  | 'BindRefused'
  /** The gateway no longer answers keepalives. */
  | 'GatewaySilent'
  /** The gateway, or something on the way, ended the connection. */
  | 'Disconnected'

/** Whether only a human can fix it: at the gateway, in the service, or in the configuration of the agent. */
export function isRefusal(code: FailureCode): boolean {
  return REFUSALS.has(code)
}

const REFUSALS: ReadonlySet<FailureCode> = new Set(['KeyUnreadable', 'HostKeyDiffers', 'KeyRefused', 'BindRefused'])

/** Why there is no tunnel, in words for a person; holds nothing secret. */
export class AgentError extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AgentError'
    this.code = code
  }
}

/** How far a connection to the gateway had come. */
export type Phase = 'dial' | 'handshake' | 'bind' | 'bound'

/** What is known when a connection to the gateway fails. */
export interface Ending {
  readonly phase: Phase
  /** `host:port` of the gateway. */
  readonly gateway: string
  /** Fingerprint of the agent's key. */
  readonly key: string
  /** The first error of socket or library; undefined if the connection was just closed. */
  readonly error: unknown
  /** What the gateway said when it ended the connection. */
  readonly farewell: string | undefined
  /** Fingerprint of a host key that is not pinned. */
  readonly strangeHostKey: string | undefined
  /** Names of the forwards that were not bound. */
  readonly unbound: readonly string[]
  readonly timedOut: boolean
}

/** What the end of a connection means. */
export function explain(ending: Ending): AgentError {
  const { code, message } = read(ending)
  return new AgentError(code, printable(message), { cause: ending.error })
}

interface Explained {
  readonly code: FailureCode
  readonly message: string
}

function read(ending: Ending): Explained {
  const { phase, gateway, timedOut, strangeHostKey } = ending
  if (strangeHostKey !== undefined) {
    const message = `the gateway ${gateway} has the host key ${strangeHostKey}, which is not pinned; pin it if it is correct`
    return { code: 'HostKeyDiffers', message }
  }
  if (timedOut) return { code: 'GatewayUnreachable', message: `the gateway ${gateway} did not respond in time` }
  switch (phase) {
    case 'dial':
      return dialFailure(ending)
    case 'handshake':
      return handshakeFailure(ending)
    case 'bind':
      return bindFailure(ending)
    case 'bound':
      return lost(ending)
  }
}

const NO_ADDRESS = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME'])

function dialFailure({ gateway, error }: Ending): Explained {
  const code = memberText(error, 'code') ?? 'unknown error'
  if (NO_ADDRESS.has(code)) {
    return { code: 'GatewayUnknown', message: `the name of the gateway ${gateway} has no address (${code})` }
  }
  return { code: 'GatewayUnreachable', message: `the gateway ${gateway} cannot be reached (${code})` }
}

function handshakeFailure({ gateway, key, error, farewell }: Ending): Explained {
  const said = memberText(error, 'message')
  if (memberText(error, 'level') === 'client-authentication') {
    const message =
      `the gateway ${gateway} refuses the key ${key}: it belongs to no SSH credential, the bot user that owns the credential ` +
      'is not active, or an IP restriction does not admit this address'
    return { code: 'KeyRefused', message }
  }
  if (said?.includes('no matching host key format')) {
    return { code: 'HostKeyDiffers', message: `the gateway ${gateway} has no host key of a pinned type` }
  }
  if (farewell !== undefined) return { code: 'Disconnected', message: `the gateway ${gateway} refuses: ${farewell}` }
  if (memberText(error, 'level') === 'client-socket' || error === undefined) {
    return { code: 'Disconnected', message: `the gateway ${gateway} closed the connection before the key was accepted` }
  }
  return {
    code: 'GatewayUnfit',
    message: `the gateway ${gateway} has no SSH algorithm in common with the agent: ${said}`,
  }
}

function bindFailure(ending: Ending): Explained {
  const { gateway, farewell, unbound, error } = ending
  if (farewell !== undefined) return { code: 'BindRefused', message: `the gateway ${gateway} says: ${farewell}` }
  if (error === undefined || memberText(error, 'level') !== undefined) return lost(ending)
  return { code: 'BindRefused', message: `the gateway ${gateway} refuses to bind ${unbound.join(' and ')}` }
}

function lost({ gateway, error, farewell }: Ending): Explained {
  if (farewell !== undefined) {
    return { code: 'Disconnected', message: `the gateway ${gateway} ended the connection: ${farewell}` }
  }
  if (memberText(error, 'level') === 'client-timeout') {
    return { code: 'GatewaySilent', message: `the gateway ${gateway} does not respond to keepalives` }
  }
  const said = memberText(error, 'code') ?? memberText(error, 'message')
  const why = said === undefined ? '' : ` (${said})`
  return { code: 'Disconnected', message: `the connection to the gateway ${gateway} was closed${why}` }
}

function memberText(error: unknown, member: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const value: unknown = Reflect.get(error, member)
  return typeof value === 'string' ? value : undefined
}
