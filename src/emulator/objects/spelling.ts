import { type Choices, DECIDED } from '../choices/choices.ts'
import { COMMON_SCHEMAS, type JsonSchema } from '../fields/json-schema.ts'
import { isJsonObject, type Json, type JsonObject } from '../values/json.ts'
import { capitalised, cidrIn, pemIn, publicKeyIn, timeIn } from './spelled-texts.ts'

/** The principals of a host certificate, unlike those of a user certificate. */
const HOST_NAMES = 'principals of hosts'
/** Fields that hold host names, with or without a port. */
const HOSTS: ReadonlySet<string> = new Set([
  'domain',
  'hostports',
  'addr',
  'ns_targets',
  'region_domains',
  'cname_target',
  'acme_challenge_cname_target',
  HOST_NAMES,
])
/** Lists whose order has no meaning. */
const SETS: ReadonlySet<string> = new Set([
  'hostports',
  'acl',
  'ip_policies',
  'certificate_authorities',
  'sources',
  'destinations',
  'principals',
  HOST_NAMES,
  'tunnels',
  'key_usages',
  'extended_key_usages',
  'ns_targets',
  'region_domains',
])
/** Lists of which a single entry may be written without the list. */
const ONE_OR_LIST: ReadonlySet<string> = new Set(['inbound', 'outbound', 'actions'])
/** Maps of texts, of which some may be empty. */
const TEXT_MAPS: ReadonlySet<string> = new Set(['labels', 'headers', 'extensions', 'critical_options'])
/** Texts that are null or absent when there is none, according to the contract. */
const NULL_OR_ABSENT: ReadonlySet<string> = new Set(['token', 'region', 'cname_target', 'acme_challenge_cname_target'])
const SECRETS: ReadonlySet<string> = new Set(['api_key', 'cloud_secret_access_key'])
/** No secret, but masked by services that mask these. */
const KEY_ID = 'cloud_access_key_id'
/** Fields that the contract names, shown where it does not name them. */
const NAMESAKES: JsonObject = {
  metadata: '{}',
  description: 'of the service',
  name: 'of the service',
  owner_id: 'usr_service',
  active: false,
  domain: 'service.example',
  created_at: '2020-01-01T00:00:00Z',
  token: null,
}

type Properties = Readonly<Record<string, JsonSchema>>

/**
 * An object as an answer shows it, spelled as chosen. The schema says whether a value is a text or a list, a map or an
 * object.
 *
 * @param answer number of the answer, for values that change with each answer
 */
export function respell(object: JsonObject, properties: Properties, choices: Choices, answer: number): JsonObject {
  if (isPlain(choices)) return object
  return new Spelling(choices, answer).members(object, properties)
}

function isPlain(choices: Choices): boolean {
  return SPELLED.every((name) => choices[name] === DECIDED[name])
}

/** The choices that this module implements. */
const SPELLED = [
  'unknown-fields',
  'empties',
  'times',
  'host-case',
  'header-names',
  'cidr',
  'pem',
  'public-keys',
  'sets',
  'single-rules',
  'enabled',
  'disabled-modules',
  'acl-none',
  'secrets',
] as const satisfies readonly (keyof Choices)[]

class Spelling {
  readonly #choices: Choices
  readonly #answer: number

  constructor(choices: Choices, answer: number) {
    this.#choices = choices
    this.#answer = answer
  }

  members(object: JsonObject, properties: Properties): JsonObject {
    const result: JsonObject = {}
    for (const [name, value] of Object.entries(object)) {
      const isHosts = name === 'principals' && !Object.hasOwn(properties, 'critical_options')
      const spelled = this.#value(isHosts ? HOST_NAMES : name, value, resolved(properties[name] ?? {}))
      if (spelled !== undefined) result[name] = spelled
    }
    return { ...result, ...this.#unknown(properties) }
  }

  #unknown(properties: Properties): JsonObject {
    const namesakes = Object.entries(NAMESAKES).filter(([name]) => properties[name] === undefined)
    const constant = {
      _links: { self: '/self' },
      generation: 7,
      labels_of_service: ['x'],
      ...Object.fromEntries(namesakes),
    }
    switch (this.#choices['unknown-fields']) {
      case 'none':
        return {}
      case 'constant':
        return constant
      case 'changing':
        return { ...constant, etag: `W/"${this.#answer}"` }
    }
  }

  /** Undefined: left out. */
  #value(name: string, value: Json, schema: JsonSchema): Json | undefined {
    if (typeof value === 'string') return value === '' ? this.#empty(name, '', schema) : this.#text(name, value, schema)
    if (Array.isArray(value)) return this.#list(name, value, schema)
    if (isJsonObject(value)) return this.#object(name, value, schema)
    if (value === null) return this.#null(name, schema)
    if (name === 'enabled' && value === true && this.#choices.enabled === 'omitted') return undefined
    return value
  }

  #null(name: string, schema: JsonSchema): Json | undefined {
    if (SECRETS.has(name) && this.#choices.secrets === 'masked') return '********'
    return this.#empty(name, null, schema)
  }

  /** An empty value. */
  #empty(name: string, value: Json, schema: JsonSchema): Json | undefined {
    switch (this.#choices.empties) {
      case 'by-field':
        return value
      case 'absent':
        return undefined
      case 'null':
        return null
      case 'empty':
        return value === null && !NULL_OR_ABSENT.has(name) ? emptyOf(schema) : value
    }
  }

  #text(name: string, value: string, schema: JsonSchema): string {
    const choices = this.#choices
    if (schema.format === 'date-time') return timeIn(choices.times, value)
    if (choices['host-case'] === 'upper') {
      if (HOSTS.has(name)) return value.toUpperCase()
      if (name === 'acl' && !value.includes('=')) return value.replace(/(?<=^bind:).*$/, (host) => host.toUpperCase())
    }
    if (name === KEY_ID && choices.secrets === 'masked') return `${value.slice(0, 4)}****`
    if (name === 'cidr') return cidrIn(choices.cidr, value)
    if (name === 'ca_pem') return pemIn(choices.pem, value)
    if (name === 'public_key') return publicKeyIn(choices['public-keys'], value)
    return value
  }

  #list(name: string, list: readonly Json[], schema: JsonSchema): Json | undefined {
    if (name === 'acl' && list.length === 0 && this.#choices['acl-none'] === 'star') return ['*']
    if (list.length === 0) return this.#empty(name, [], schema)
    const items = resolved(isJsonObject(schema.items) ? schema.items : {})
    const spelled = list.flatMap((item) => this.#value(name, item, items) ?? [])
    if (SETS.has(name) && this.#choices.sets === 'reversed') spelled.reverse()
    const [only, ...others] = spelled
    const isAlone = only !== undefined && others.length === 0
    return isAlone && ONE_OR_LIST.has(name) && this.#choices['single-rules'] === 'object' ? only : spelled
  }

  #object(name: string, value: JsonObject, schema: JsonSchema): Json | undefined {
    const { properties } = schema
    if (isJsonObject(properties)) {
      if (value.enabled === false && this.#choices['disabled-modules'] === 'null')
        return this.#empty(name, null, schema)
      return this.members(value, properties as Properties)
    }
    // A map, or data of the user: its keys and values are not fields of the API.
    if (Object.keys(value).length === 0) return this.#empty(name, {}, schema)
    const isCapitalised = name === 'headers' && this.#choices['header-names'] === 'capitalised'
    const isNull = TEXT_MAPS.has(name) && this.#choices.empties === 'null'
    if (!isCapitalised && !isNull) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, text]) => [
        isCapitalised ? capitalised(key) : key,
        isNull && text === '' ? null : text,
      ]),
    )
  }
}

/** The schema behind a reference to a shared one, or the schema of a nullable value without null. */
function resolved(schema: JsonSchema): JsonSchema {
  const { anyOf, $ref } = schema
  if (Array.isArray(anyOf)) return resolved(anyOf.find(isJsonObject) ?? {})
  if (typeof $ref === 'string') return COMMON_SCHEMAS[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}
  return schema
}

/** The empty value of the schema's type; null if there is none. */
function emptyOf({ type, properties }: JsonSchema): Json {
  const types = [type].flat()
  if (types.includes('string')) return ''
  if (types.includes('array')) return []
  return types.includes('object') && properties === undefined ? {} : null
}
