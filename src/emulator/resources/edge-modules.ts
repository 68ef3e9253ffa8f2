import { celExpression } from '../fields/cel-syntax.ts'
import { id, ids } from '../fields/conventions.ts'
import { missingField, type Reader, reader } from '../fields/field.ts'
import { FLAG, type JsonSchema, list, members, nullable, REF, REFS, TEXT, TEXTS } from '../fields/json-schema.ts'
import { anyObject, boolean, listOf, listOrOne, nonEmptyString, object, oneOf, string } from '../fields/readers.ts'
import type { View } from '../objects/view.ts'
import { isJsonObject, type Json, type JsonObject, textsOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'
import { BACKENDS } from './backends.ts'

/**
 * A module of an edge (`management-api.md § Edges and backends`): the form in which it is sent and stored, and the
 * returned form.
 */
export interface EdgeModule {
  readonly name: string
  /** Reads the mutate form. */
  readonly read: Reader<JsonObject>
  /** Turns the mutate form into the returned form. */
  readonly render: (module: JsonObject, view: View) => JsonObject
  /** What `render` returns. */
  readonly shows: JsonSchema
  /** What the module refers to, if anything. */
  readonly references?: ModuleReferences
}

interface ModuleReferences {
  /** The member of the mutate form that holds the id or ids. */
  readonly member: string
  readonly collections: readonly string[]
  /**
   * Whether an edge prevents the deletion of what it refers to. IP policies may be deleted: they then count as empty.
   */
  readonly restricts: boolean
}

const enabled = { read: boolean, absent: true }

/** A disabled module may leave its references out; an enabled one without them would be meaningless. */
const backendForm = object({ enabled, backend_id: { read: id, absent: null } })
const readBackend: Reader<JsonObject> = reader(backendForm.schema, (value, at) => {
  const module = backendForm(value, at)
  if (module.enabled === true && module.backend_id === null) throw missingField(`${at}.backend_id`)
  return module
})

function readWithIds(member: string): Reader<JsonObject> {
  const form = object({ enabled, [member]: { read: ids, absent: [] } })
  return reader(form.schema, (value, at) => {
    const module = form(value, at)
    if (module.enabled === true && textsOf(module[member]).length === 0) {
      throw invalid(`${at}.${member}`, 'must name at least one object while the module is enabled')
    }
    return module
  })
}

export const backendModule: EdgeModule = {
  name: 'backend',
  read: readBackend,
  shows: members({ enabled: FLAG, backend: nullable(REF) }),
  render: (module, view) => ({ enabled: module.enabled ?? true, backend: view.ref(module.backend_id) }),
  references: { member: 'backend_id', collections: BACKENDS, restricts: true },
}

export const ipRestrictionModule: EdgeModule = {
  name: 'ip_restriction',
  read: readWithIds('ip_policy_ids'),
  shows: members({ enabled: FLAG, ip_policies: REFS }),
  render: (module, view) => ({ enabled: module.enabled ?? true, ip_policies: view.refs(module.ip_policy_ids) }),
  references: { member: 'ip_policy_ids', collections: ['ip_policies'], restricts: false },
}

export const mutualTlsModule: EdgeModule = {
  name: 'mutual_tls',
  read: readWithIds('certificate_authority_ids'),
  shows: members({ enabled: FLAG, certificate_authorities: REFS }),
  render: (module, view) => ({
    enabled: module.enabled ?? true,
    certificate_authorities: view.refs(module.certificate_authority_ids),
  }),
  references: { member: 'certificate_authority_ids', collections: ['certificate_authorities'], restricts: true },
}

const terminateAt = oneOf('edge', 'upstream')
/** The contract names no versions. `TLSv1.2` and the like mean what they say, and are kept as they were sent. */
const minVersion: Reader<string> = reader({ type: 'string', minLength: 1 }, (value, at) => {
  const name = string(value, at)
  if (tlsVersionNamed(name) === undefined) throw invalid(at, 'must be one of 1.0, 1.1, 1.2, 1.3')
  return name
})
const tlsTerminationForm = object({
  enabled,
  terminate_at: { read: terminateAt, absent: 'edge' },
  min_version: { read: minVersion, absent: null },
})

export const tlsTerminationModule: EdgeModule = {
  name: 'tls_termination',
  read: reader(tlsTerminationForm.schema, (value, at) => {
    const module = tlsTerminationForm(value, at)
    if (module.terminate_at === 'upstream' && module.min_version !== null) {
      throw invalid(`${at}.min_version`, 'must be null when terminate_at is upstream')
    }
    return module
  }),
  shows: members({ enabled: FLAG, terminate_at: terminateAt.schema, min_version: nullable(minVersion.schema) }),
  render: (module, { choices }) => {
    const { enabled: applied = true, terminate_at = 'edge', min_version } = module
    const chosen = terminate_at === 'edge' && choices['min-version-default'] !== 'null'
    return {
      enabled: applied,
      terminate_at,
      min_version: min_version ?? (chosen ? choices['min-version-default'] : null),
    }
  },
}

const action = object({ type: { read: nonEmptyString }, config: { read: anyObject, absent: {} } })
const rule = object({
  name: { read: string, absent: null },
  expressions: { read: listOf(celExpression), absent: [] },
  actions: { read: listOrOne(action), absent: [] },
})

const SHOWN_RULE = members({
  name: nullable(TEXT),
  expressions: TEXTS,
  actions: list(members({ type: TEXT, config: anyObject.schema })),
})

export const policyModule: EdgeModule = {
  name: 'policy',
  read: object({
    enabled,
    inbound: { read: listOrOne(rule), absent: [] },
    outbound: { read: listOrOne(rule), absent: [] },
  }),
  shows: members({ enabled: FLAG, inbound: list(SHOWN_RULE), outbound: list(SHOWN_RULE) }),
  render: ({ enabled: applied = true, inbound = [], outbound = [] }, { choices }) => {
    const isChosen = choices['rule-defaults'] === 'chosen'
    const shown = (rules: Json): Json => (isChosen && Array.isArray(rules) ? rules.map(withDefaults) : rules)
    return { enabled: applied, inbound: shown(inbound), outbound: shown(outbound) }
  },
}

/** A rule with defaults in place of what was not sent. */
function withDefaults(rule: Json): Json {
  if (!isJsonObject(rule)) return rule
  const { actions } = rule
  const configured = (action: Json): Json => {
    if (!isJsonObject(action) || !isJsonObject(action.config)) return action
    return Object.keys(action.config).length === 0 ? { ...action, config: { log: true } } : action
  }
  return {
    ...rule,
    name: rule.name ?? 'rule',
    ...(Array.isArray(actions) ? { actions: actions.map(configured) } : {}),
  }
}

/** The number of the TLS version that a text names; undefined if none. */
export function tlsVersionNamed(text: string): string | undefined {
  return /^(?:tls[ _-]?v?)?(1\.[0-3])$/i.exec(text)?.[1]
}
