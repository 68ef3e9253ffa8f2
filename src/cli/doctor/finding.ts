/**
 * How bad a finding is. `error`: something does not work. `warning`: it will not, or not as it should. `unchecked`:
 * something could not be looked at.
 */
export type Severity = 'error' | 'warning' | 'unchecked'

/** The checks, in the order in which their findings are worth reading: the causes of many others come first. */
export const CHECKS = [
  'operator',
  'crds',
  'rights',
  'webhooks',
  'writes',
  'account',
  'api',
  'clock',
  'budget',
  'resources',
  'deletion',
  'certificates',
  'dns',
  'tunnels',
  'acl',
  'orphans',
  'approvals',
] as const

export type Check = (typeof CHECKS)[number]

/** What each check looks at. */
export const CHECKED: Readonly<Record<Check, string>> = {
  operator: 'the operator holds its Lease',
  crds: 'the CRDs are those of this program',
  rights: 'your own permissions',
  webhooks: 'webhooks that are called for resources exist',
  writes: 'the API server accepts what the operator writes',
  account: 'accounts are Ready',
  api: 'the API accepts the keys of accounts',
  clock: 'clocks agree',
  budget: 'the request limits of accounts suffice',
  resources: 'resources are Ready and match their specs',
  deletion: 'no deletion waits',
  certificates: 'certificates are valid and renewed',
  dns: 'DNS records of domains resolve',
  tunnels: 'groups in use have tunnels',
  acl: 'credentials permit the labels of groups',
  orphans: 'no object was left behind by a resource',
  approvals: 'the approval of plans is restricted',
}

/** One thing that is wrong. */
export interface Finding {
  readonly severity: Severity
  readonly check: Check
  /** What it is about: `Edge/shop in namespace web`, or a part of the installation. */
  readonly object: string
  readonly cause: string
  /** What to do; absent where the command says it all. */
  readonly remedy?: string
  /** The command that fixes it, or shows more. */
  readonly command?: string | undefined
}

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'unchecked']

/** Findings in the order in which a person should read them: worst first, then causes before effects. */
export function worstFirst(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ severity, check }: Finding): number => {
    return SEVERITIES.indexOf(severity) * CHECKS.length + CHECKS.indexOf(check)
  }
  return findings.toSorted((left, right) => rank(left) - rank(right) || (left.object < right.object ? -1 : 1))
}

/** From which severity on a problem fails the command. */
export type FailOn = Exclude<Severity, 'unchecked'>

/** Whether nothing of this severity or worse is wrong, as far as it could be checked. */
export function isWell(findings: readonly Finding[], failOn: FailOn = 'warning'): boolean {
  return findings.every(({ severity }) => SEVERITIES.indexOf(severity) > SEVERITIES.indexOf(failOn))
}
