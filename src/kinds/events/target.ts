import type { Fields, KeyRef } from '../../managed/descriptor/common.ts'
import type { Input } from '../../managed/descriptor/descriptor.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { given, objectOf, textOf } from '../building-blocks/remote.ts'
import { chosen } from '../building-blocks/spec-fields.ts'
import type { EventDestinationSpec } from './destination-schema.ts'

type Auth = NonNullable<EventDestinationSpec['kinesis']>['auth']

/** Secrets that the target needs, each with its path. */
export function targetSecrets(spec: EventDestinationSpec): readonly Input[] {
  const monitor =
    spec.monitor === undefined ? [] : [secret('spec.monitor.apiKeySecretRef', spec.monitor.apiKeySecretRef)]
  const cloud = (['firehose', 'kinesis', 'cloudWatchLogs'] as const).flatMap((member) => {
    const accessKey = spec[member]?.auth.accessKey
    if (accessKey === undefined) return []
    const path = `spec.${member}.auth.accessKey`
    return [
      secret(`${path}.accessKeyIDSecretRef`, accessKey.accessKeyIDSecretRef),
      secret(`${path}.secretAccessKeySecretRef`, accessKey.secretAccessKeySecretRef),
    ]
  })
  return [...monitor, ...cloud]
}

function secret(path: string, ref: KeyRef): Input {
  return { path, source: 'Secret', ref }
}

/** The EventTarget to send: the member that the type names (`management-api.md § Events`). */
export function sentTarget(desired: Desired<EventDestinationSpec>): Fields {
  const { spec } = desired
  switch (spec.type) {
    case 'Firehose': {
      const { auth, deliveryStreamARN } = chosen(spec.firehose, 'spec.firehose')
      return { firehose: { auth: sentAuth(desired, auth), delivery_stream_arn: deliveryStreamARN } }
    }
    case 'Kinesis': {
      const { auth, streamARN } = chosen(spec.kinesis, 'spec.kinesis')
      return { kinesis: { auth: sentAuth(desired, auth), stream_arn: streamARN } }
    }
    case 'CloudWatchLogs': {
      const { auth, logGroupARN } = chosen(spec.cloudWatchLogs, 'spec.cloudWatchLogs')
      return { cloudwatch_logs: { auth: sentAuth(desired, auth), log_group_arn: logGroupARN } }
    }
    case 'Monitor': {
      const { apiKeySecretRef, tags, service, site } = chosen(spec.monitor, 'spec.monitor')
      return {
        monitor: given({
          api_key: desired.input('Secret', apiKeySecretRef),
          monitortags: textOf(tags),
          service: textOf(service),
          monitorsite: textOf(site),
        }),
      }
    }
  }
}

function sentAuth(desired: Desired<EventDestinationSpec>, auth: Auth): Fields {
  switch (auth.type) {
    case 'Role':
      return { role: { role_arn: chosen(auth.role, 'auth.role').roleARN } }
    case 'AccessKey': {
      const { accessKeyIDSecretRef, secretAccessKeySecretRef } = chosen(auth.accessKey, 'auth.accessKey')
      return {
        creds: {
          cloud_access_key_id: desired.input('Secret', accessKeyIDSecretRef),
          cloud_secret_access_key: desired.input('Secret', secretAccessKeySecretRef),
        },
      }
    }
  }
}

/**
 * Never compared, since the API may hide them (`api-decisions.md § Values`). A changed Secret is detected by its
 * fingerprint.
 */
export const SECRETS: ReadonlySet<string> = new Set(['api_key', 'cloud_secret_access_key'])
/** The same, where the API hides the id of the access key as well. */
export const SECRETS_AND_KEY_ID: ReadonlySet<string> = new Set([...SECRETS, 'cloud_access_key_id'])

/** Members of the target (`management-api.md § Events`). */
const MEMBERS: readonly string[] = ['firehose', 'kinesis', 'cloudwatch_logs', 'monitor']
/** Text members of these. Anything else that the API returns there is ignored. */
const TEXTS: ReadonlySet<string> = new Set([
  ...['role_arn', 'cloud_access_key_id', 'cloud_secret_access_key'],
  ...['delivery_stream_arn', 'stream_arn', 'log_group_arn'],
  ...['api_key', 'monitortags', 'service', 'monitorsite'],
])
/** Members that have members themselves. */
const PARTS: ReadonlySet<string> = new Set(['auth', 'role', 'creds'])

/** A target, sent or returned, in a comparable form: without secrets, and without null, empty or unknown members. */
export function comparableTarget(value: unknown, hidden: ReadonlySet<string> = SECRETS): Fields {
  const target = objectOf(value) ?? {}
  const members = MEMBERS.flatMap((name) => {
    const fields = objectOf(target[name])
    return fields === undefined ? [] : [[name, pruned(fields, hidden)] as const]
  })
  return Object.fromEntries(members)
}

function pruned(fields: Fields, hidden: ReadonlySet<string>): Fields {
  const entries = Object.entries(fields).flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    const child = objectOf(value)
    if (child !== undefined) return PARTS.has(name) ? [[name, pruned(child, hidden)]] : []
    return hidden.has(name) || !TEXTS.has(name) || textOf(value) === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(entries)
}

/** Name of the member that a returned target has, whether Culvert knows it or not (`s3`). */
export function targetType(value: unknown): string | undefined {
  const target = objectOf(value) ?? {}
  return [...MEMBERS, ...Object.keys(target)].find((name) => objectOf(target[name]) !== undefined)
}

/** Whether the target has members that the API hides. */
export function holdsSecrets(value: unknown): boolean {
  const target = objectOf(value) ?? {}
  const cloud = ['firehose', 'kinesis', 'cloudwatch_logs'].map((name) => objectOf(objectOf(target[name])?.auth)?.creds)
  return objectOf(target.monitor) !== undefined || cloud.some((creds) => objectOf(creds) !== undefined)
}

/** The target as a spec has it. @param name of the resource: its Secret is named after it */
export function writtenTarget(value: unknown, name: string): Fields {
  const { firehose, kinesis, cloudwatch_logs, monitor } = comparableTarget(value, new Set())
  const [stream, data, logs, service] = [firehose, kinesis, cloudwatch_logs, monitor].map(objectOf)
  const secret = (key: string) => ({ name, key })
  const auth = (member: Fields): Fields => {
    const role = objectOf(objectOf(member.auth)?.role)
    if (role !== undefined) return { type: 'Role', role: { roleARN: role.role_arn } }
    const refs = { accessKeyIDSecretRef: secret('accessKeyID'), secretAccessKeySecretRef: secret('secretAccessKey') }
    return { type: 'AccessKey', accessKey: refs }
  }
  if (stream !== undefined) {
    return { type: 'Firehose', firehose: { auth: auth(stream), deliveryStreamARN: stream.delivery_stream_arn } }
  }
  if (data !== undefined) return { type: 'Kinesis', kinesis: { auth: auth(data), streamARN: data.stream_arn } }
  if (logs !== undefined) {
    return { type: 'CloudWatchLogs', cloudWatchLogs: { auth: auth(logs), logGroupARN: logs.log_group_arn } }
  }
  const { monitortags: tags, service: named, monitorsite: site } = service ?? {}
  return { type: 'Monitor', monitor: given({ apiKeySecretRef: secret('apiKey'), tags, service: named, site }) }
}

/** Stands in an id of an access key only where the API masks it: its own characters are letters and digits. */
const MASK = /[^A-Za-z0-9_]|[Xx]{4}/

/** Whether the API returned credentials without the id of the access key, or masked: it is then not compared. */
export function hidesAccessKeyId(target: unknown): boolean {
  return Object.values(objectOf(target) ?? {}).some((member) => {
    const creds = objectOf(objectOf(objectOf(member)?.auth)?.creds)
    if (creds === undefined) return false
    const id = textOf(creds.cloud_access_key_id)
    return id === undefined || MASK.test(id)
  })
}
