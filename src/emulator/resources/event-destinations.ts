import type { Choices } from '../choices/choices.ts'
import { DESCRIBED, SHOWN_TEXTS } from '../fields/conventions.ts'
import { mandatory, missingField, type Reader, reader, unknownField } from '../fields/field.ts'
import { exactlyOneOf, type JsonSchema, members, nullable, TEXT } from '../fields/json-schema.ts'
import { anyObject, exactlyOne, nonEmptyString, object, string } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import { isJsonObject, type Json, type JsonObject, textOf } from '../values/json.ts'
import { invalid } from '../values/request-error.ts'

const CLOUD_MEMBERS = ['firehose', 'kinesis', 'cloudwatch_logs'] as const
const MEMBERS = [...CLOUD_MEMBERS, 'monitor'] as const
type MemberName = (typeof MEMBERS)[number]

/** An update may omit a secret, so its presence is checked once the target that it replaces is known. */
const secret = { read: nonEmptyString, absent: null }

const role = object({ role_arn: { read: nonEmptyString } })
const creds = object({ cloud_access_key_id: { read: nonEmptyString }, cloud_secret_access_key: secret })
const authForm = object({ role: { read: role, absent: null }, creds: { read: creds, absent: null } })

const cloudAuth: Reader<JsonObject> = reader(
  { ...authForm.schema, ...exactlyOneOf(['role', 'creds']) },
  (value, at) => {
    exactlyOne(anyObject(value, at), ['role', 'creds'], at)
    return authForm(value, at)
  },
)

const MEMBER_FORMS: Record<MemberName, Reader<JsonObject>> = {
  firehose: object({ auth: { read: cloudAuth }, delivery_stream_arn: { read: nonEmptyString } }),
  kinesis: object({ auth: { read: cloudAuth }, stream_arn: { read: nonEmptyString } }),
  cloudwatch_logs: object({ auth: { read: cloudAuth }, log_group_arn: { read: nonEmptyString } }),
  monitor: object({
    api_key: secret,
    monitortags: { read: string, absent: null },
    service: { read: string, absent: null },
    monitorsite: { read: string, absent: null },
  }),
}

/** Reads an EventTarget: exactly one member (`management-api.md § Events`); stored as that member alone. */
const readTarget: Reader<JsonObject> = reader(
  {
    type: 'object',
    properties: {
      ...Object.fromEntries(MEMBERS.map((name) => [name, nullable(MEMBER_FORMS[name].schema)])),
      s3: { type: 'null' },
    },
    additionalProperties: false,
    ...exactlyOneOf(MEMBERS),
  },
  (value, at) => {
    const target = anyObject(value, at)
    if (target.s3 !== undefined && target.s3 !== null) throw invalid(`${at}.s3`, 's3 targets are not supported')
    for (const name of Object.keys(target)) {
      if (name !== 's3' && !MEMBERS.some((member) => member === name)) throw unknownField(`${at}.${name}`)
    }
    const name = exactlyOne(target, MEMBERS, at)
    return { [name]: MEMBER_FORMS[name](target[name] ?? null, `${at}.${name}`) }
  },
)

/**
 * The target to store when `given` replaces `before`: a secret omitted from the same member keeps its value
 * (`api-decisions.md § Behaviour`); one that never existed is missing.
 */
function keepSecrets(given: Json, before: Json | undefined): Json {
  return mapSecrets(given, (path, value) => {
    const kept = value ?? lookUp(before, path)
    if (typeof kept !== 'string') throw missingField(['target', ...path].join('.'))
    return kept
  })
}

const shownRole = members({ role_arn: TEXT })
const shownCreds = members({ cloud_access_key_id: TEXT, cloud_secret_access_key: { type: 'null' } })
const shownCloud = (address: string): JsonSchema =>
  nullable(members({ auth: members({ role: nullable(shownRole), creds: nullable(shownCreds) }), [address]: TEXT }))

/** What `renderTarget` returns. */
const SHOWN_TARGET = members({
  firehose: shownCloud('delivery_stream_arn'),
  kinesis: shownCloud('stream_arn'),
  cloudwatch_logs: shownCloud('log_group_arn'),
  monitor: nullable(
    members({
      api_key: { type: 'null' },
      monitortags: nullable(TEXT),
      service: nullable(TEXT),
      monitorsite: nullable(TEXT),
    }),
  ),
})

/** The service's choices where a target leaves them open. */
const CHOSEN: JsonObject = { monitortags: 'source:edge', service: 'edge', monitorsite: 'us1' }

/** The target as returned: the other members null, the secrets null. */
function renderTarget(target: Json | undefined, choices: Choices): JsonObject {
  const shown = mapSecrets(target ?? null, () => null)
  const members = { ...Object.fromEntries(MEMBERS.map((name) => [name, null])), ...(isJsonObject(shown) ? shown : {}) }
  const { monitor = null } = members as JsonObject
  if (!isJsonObject(monitor) || choices['monitor-defaults'] === 'null') return members
  const filled = Object.entries(monitor).map(([name, value]) => [name, value ?? CHOSEN[name] ?? null])
  return { ...members, monitor: Object.fromEntries(filled) }
}

/** A copy of a stored target with every secret in it replaced by `change`. */
function mapSecrets(value: Json, change: (path: readonly string[], value: Json) => Json, path: string[] = []): Json {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => {
      const here = [...path, name]
      return [name, isSecret(name) ? change(here, entry) : mapSecrets(entry, change, here)]
    }),
  )
}

function isSecret(name: string): boolean {
  return name === 'api_key' || name === 'cloud_secret_access_key'
}

function lookUp(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), value)
}

/** JSON is the only format; any case is accepted, lower case is returned. */
const format: Reader<string> = reader({ type: 'string', pattern: '^[Jj][Ss][Oo][Nn]$' }, (value, at) => {
  if (string(value, at).toLowerCase() !== 'json') throw invalid(at, 'must be json')
  return 'json'
})

/** Destinations of events. One that a subscription refers to cannot be deleted. */
export const eventDestinations: Resource = {
  path: 'event_destinations',
  listKey: 'event_destinations',
  idPrefix: 'ed',
  eventName: 'event_destination',
  updateAnswer: 'unstated',
  served: true,
  fields: { ...DESCRIBED, format: mandatory(format), target: mandatory(readTarget) },
  prepare: ({ before, given, next }) => {
    if (given.target !== undefined) next.target = keepSecrets(given.target, before?.target)
  },
  shows: { ...SHOWN_TEXTS, format: { type: 'string', const: 'json' }, target: SHOWN_TARGET },
  render: (destination, { choices }) => ({
    description: textOf(destination, 'description'),
    metadata: textOf(destination, 'metadata'),
    format: 'json',
    target: renderTarget(destination.target, choices),
  }),
}
