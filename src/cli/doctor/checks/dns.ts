import { Resolver } from 'node:dns/promises'
import type { StatedResource } from '../../cluster/resource-state.ts'
import type { Finding } from '../finding.ts'
import { objectText, type Patient } from '../patient.ts'

/** A record that a domain needs (`status.dnsRecords`). */
interface NeededRecord {
  readonly name: string
  readonly type: 'CNAME' | 'NS'
  readonly value: string
}

/** What a resolver answers for a record. */
export type DnsAnswer =
  | { readonly type: 'found'; readonly values: readonly string[] }
  | { readonly type: 'absent' }
  | { readonly type: 'failed'; readonly code: string }

/** How records are looked up. */
export interface DNSOptions {
  /** `address[:port]` of the servers to ask. Empty: those of this machine. */
  readonly servers: readonly string[]
  readonly timeoutMs: number
}

/** Whether the records that domains need resolve, asked of a real resolver. */
export async function checkDNS({ members }: Patient, { servers, timeoutMs }: DNSOptions): Promise<readonly Finding[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  const findings = members.map(async (resource) => {
    const records = recordsOf(resource)
    const answers = await Promise.all(records.map((record) => lookUp(resolver, record)))
    return records.flatMap((record, index) => findingFor(resource, record, answers[index] ?? { type: 'absent' }))
  })
  return (await Promise.all(findings)).flat()
}

function recordsOf({ status }: StatedResource): readonly NeededRecord[] {
  const records = status?.dnsRecords
  return Array.isArray(records) ? (records as readonly NeededRecord[]) : []
}

/** A wildcard has no answer of its own: any name below it does. */
async function lookUp(resolver: Resolver, { name, type }: NeededRecord): Promise<DnsAnswer> {
  const asked = name.replace(/^\*\./, 'culvert-doctor.')
  try {
    const values = type === 'NS' ? await resolver.resolveNs(asked) : await resolver.resolveCname(asked)
    return { type: 'found', values: values.map(plain) }
  } catch (error) {
    const { code = 'UNKNOWN' } = error as NodeJS.ErrnoException
    return code === 'ENOTFOUND' || code === 'ENODATA' ? { type: 'absent' } : { type: 'failed', code }
  }
}

/** What is wrong with the answer for a record. */
function findingFor(resource: StatedResource, record: NeededRecord, answer: DnsAnswer): readonly Finding[] {
  const { name, type, value } = record
  const about = { check: 'dns', object: objectText(resource) } as const
  const remedy = `Create ${name} ${type} ${value} at your DNS provider.`
  const command = `dig +short ${name} ${type}`
  switch (answer.type) {
    case 'absent':
      return [{ ...about, severity: 'error', cause: `${name} has no ${type} record`, remedy, command }]
    case 'failed':
      return [{ ...about, severity: 'unchecked', cause: `${name} could not be resolved (${answer.code})`, command }]
    case 'found': {
      if (answer.values.includes(plain(value))) return []
      const cause = `${name} has the ${type} record ${answer.values.join(', ')}, but needs ${value}`
      return [{ ...about, severity: 'error', cause, remedy, command }]
    }
  }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
