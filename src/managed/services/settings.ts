import type { AccountName } from '../attempt.ts'
import { GROUP, PAUSED, SERVICE_ACCOUNT, SERVICE_DOMAIN, SERVICE_IGNORE, SERVICE_IP_POLICIES } from '../names.ts'
import { restrictingAnnotations } from './foreign-annotations.ts'
import type { ServiceResource } from './service.ts'

/** What the annotations of a Service say. */
export interface ServiceSettings {
  /** Absent: as for any resource that names none. */
  readonly account?: AccountName
  /** Absent: each port has an address. */
  readonly domain?: string
  /** Names of IPPolicies, at least one. Absent: everyone may connect. */
  readonly ipPolicies?: readonly string[]
}

/** What makes no sense: the field with its value, and the remedy. */
export type Problem = string

const LABEL = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^(?=.{1,253}$)(${LABEL}\\.)+(?!\\d+$)${LABEL}$`)
const NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** The most policies that an Edge takes. */
const MOST_POLICIES = 64
const KNOWN: readonly string[] = [SERVICE_DOMAIN, SERVICE_IP_POLICIES, SERVICE_ACCOUNT, SERVICE_IGNORE, PAUSED]
/** Name of an annotation. */
const ANNOTATION = /^[-./A-Za-z0-9_]{1,317}$/

/**
 * Reads the annotations of a Service. Whatever may be meant to restrict it and cannot be followed is a problem: nothing
 * is opened then. Pure.
 */
export function settingsOf({ metadata, spec }: ServiceResource): ServiceSettings | { readonly problems: Problem[] } {
  const annotations = metadata.annotations ?? {}
  const problems: Problem[] = []
  const read = <T>(name: string, parse: (value: string) => T | { readonly problem: string }): T | undefined => {
    const value = annotations[name]
    if (value === undefined) return undefined
    const parsed = parse(value.trim())
    if (typeof parsed !== 'object' || parsed === null || !('problem' in parsed)) return parsed as T
    problems.push(`${about(name)}: ${shown(value)} ${parsed.problem}`)
    return undefined
  }
  const account = read(SERVICE_ACCOUNT, parseAccount)
  const domain = read(SERVICE_DOMAIN, parseDomain)
  const ipPolicies = read(SERVICE_IP_POLICIES, parsePolicies)
  for (const name of Object.keys(annotations)) {
    if (!name.startsWith(`${GROUP}/`) || KNOWN.includes(name)) continue
    problems.push(`${about(name)}: unknown annotation of a Service: correct it to one of ${KNOWN.join(', ')}`)
  }
  const ignored = read(SERVICE_IGNORE, parseIgnored) ?? []
  for (const name of restrictingAnnotations(annotations)) {
    if (!ignored.includes(name)) problems.push(`${about(name)}: ${shown(annotations[name] ?? '')} ${FOREIGN}`)
  }
  if ((spec.loadBalancerSourceRanges ?? []).length > 0) problems.push(`spec.loadBalancerSourceRanges: ${RANGES}`)
  if (!/^[a-z]/.test(metadata.name)) {
    problems.push(`metadata.name: ${shown(metadata.name)} begins with a digit: choose another name for the Service`)
  }
  if (problems.length > 0) return { problems }
  return {
    ...(account === undefined ? {} : { account }),
    ...(domain === undefined ? {} : { domain }),
    ...(ipPolicies === undefined ? {} : { ipPolicies }),
  }
}

const RANGES = `source ranges are not supported: remove them, and list IPPolicies in ${SERVICE_IP_POLICIES}`

const FOREIGN = `belongs to another load balancer and may restrict access: remove it and list IPPolicies in ${SERVICE_IP_POLICIES}, or list it in ${SERVICE_IGNORE}`

function parseIgnored(value: string): readonly string[] | { readonly problem: string } {
  const names = value.split(',').map((name) => name.trim())
  if (names.every((name) => ANNOTATION.test(name) && !name.startsWith(`${GROUP}/`))) return names
  return {
    problem: `is not a list of annotations of other load balancers, separated by commas: correct it or remove the annotation`,
  }
}

function parseAccount(value: string): AccountName | { readonly problem: string } {
  const [kind, name, more] = value.includes('/') ? value.split('/') : ['Account', value]
  if ((kind !== 'Account' && kind !== 'ClusterAccount') || more !== undefined || !NAME.test(name ?? '')) {
    return { problem: 'is not an account: use the form name, Account/name or ClusterAccount/name' }
  }
  return { kind, name: name ?? '' }
}

function parseDomain(value: string): string | { readonly problem: string } {
  if (DOMAIN.test(value)) return value
  return { problem: 'is not a domain in lower case, such as shop.example.com: correct it or remove the annotation' }
}

function parsePolicies(value: string): readonly string[] | { readonly problem: string } {
  const names = value.split(',').map((name) => name.trim())
  if (names.every((name) => NAME.test(name)) && names.length <= MOST_POLICIES) return [...new Set(names)]
  return {
    problem: `is not a list of 1 to ${MOST_POLICIES} names of IPPolicies, such as office,lab: correct it or remove the annotation`,
  }
}

function about(annotation: string): string {
  return `metadata.annotations[${annotation}]`
}

/** The value as it is, but not all of a long one. */
function shown(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value)
}
