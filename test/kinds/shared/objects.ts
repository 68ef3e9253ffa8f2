import { expect } from 'vitest'
import type { Body, Manifest } from '../kind-test-data.ts'

export const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
export const some = expect.any(String)
/** The metadata of an object whose spec has none of its own. */
export const mark = expect.stringMatching(/^\{"culvert":\{[^{}]*\}\}$/)
/** The same with the spec's own keys, in their order. */
export const markBeside = (keys: string) => expect.stringMatching(new RegExp(`^\\{"culvert":\\{[^{}]*\\},${keys}\\}$`))

/** A reference to an object, by its id. */
export function refTo(id: unknown): Body {
  return { id, uri: expect.stringMatching(new RegExp(`/${String(id)}$`)) }
}

/** A reference to an object of `SEED`. */
export const seeded = (id: string): Body => ({ id, uri: some })
/** Fields of every object. */
export const named = { id: some, uri: some, created_at: time }
/** The same of an object whose spec sets no texts. */
export const bare = { ...named, description: '', metadata: mark }

/** Fields of a spec with a description and metadata. */
export const described = (name: string) => ({
  description: `made for ${name}`,
  metadata: { made: `for ${name}`, '1st': 'é"' },
})

/** Fields of its object. */
export const shownDescribed = (name: string): Body => ({
  ...named,
  description: `made for ${name}`,
  metadata: markBeside(`"1st":"é\\\\"","made":"for ${name}"`),
})

/** Fields of a spec with a description and raw metadata. */
export const worded = (name: string) => ({
  description: `made for ${name}`,
  rawMetadata: `{"made":"for ${name}"}`,
})

/** Fields of its object. */
export const shownWorded = (name: string): Body => ({
  ...named,
  description: `made for ${name}`,
  metadata: `{"made":"for ${name}"}`,
})

/** Resources that specs need. */
export const need = {
  bot: (name: string): Manifest => ({ kind: 'BotUser', name, spec: { displayName: `bot of ${name}` } }),
  destination: (name: string): Manifest => ({ kind: 'EventDestination', name, spec: cloudWatchLogs }),
  domain: (name: string, prefix = ''): Manifest => ({
    kind: 'ReservedDomain',
    name,
    spec: { domain: `${prefix}${name}.tunnel.example` },
  }),
  address: (name: string): Manifest => ({ kind: 'ReservedAddress', name, spec: {} }),
  policy: (name: string): Manifest => ({
    kind: 'IPPolicy',
    name,
    spec: { rules: [{ cidr: '198.51.100.0/24', action: 'Allow', description: 'the office' }] },
  }),
  openPolicy: (name: string): Manifest => ({ kind: 'IPPolicy', name, spec: { rulesSource: 'IPPolicyRules' } }),
  sshAuthority: (name: string): Manifest => ({ kind: 'SSHCertificateAuthority', name, spec: {} }),
  tunnels: (name: string): Manifest => ({
    kind: 'Backend',
    name,
    spec: { type: 'TunnelGroup', tunnelGroup: {} },
  }),
}

export const role = { type: 'Role', role: { roleARN: 'arn:aws:iam::123456789012:role/events' } }

/** The smallest spec of an EventDestination. */
const cloudWatchLogs = {
  type: 'CloudWatchLogs',
  cloudWatchLogs: { logGroupARN: 'arn:aws:logs:eu-central-1:123456789012:log-group:a', auth: role },
}
