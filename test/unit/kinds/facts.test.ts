import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { kinds } from '../../../src/kinds/index.ts'
import type { CommonSpec, Fields } from '../../../src/managed/descriptor/common.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { planCreate, planUpdate } from '../../../src/managed/plan/plan.ts'
import { anySpecOf } from '../../builders/kinds/any-spec.ts'
import { anyObjects, desiredOf } from '../../builders/kinds/desired.ts'
import { allCollections, collectionAt, createFields, updateFields } from '../../contract/facts/all.ts'

const managed = kinds.filter((kind) => kind.role === 'managed')

/** Names of the fields that the kinds actually send, by collection. */
function fieldsSent(): Readonly<Record<'create' | 'update', ReadonlyMap<string, ReadonlySet<string>>>> {
  const sent = { create: new Map<string, Set<string>>(), update: new Map<string, Set<string>>() }
  const note = (way: 'create' | 'update', path: string, body: Fields): void => {
    const names = sent[way].get(path) ?? new Set()
    sent[way].set(path, names)
    for (const name of Object.keys(body)) names.add(name)
  }
  for (const descriptor of managed) {
    for (const sample of fc.sample(anySpecOf(descriptor), { numRuns: 240, seed: 1 })) send(descriptor, sample, note)
  }
  return sent
}

type Note = (way: 'create' | 'update', path: string, body: Fields) => void

/** Sends a sample, once as a create and once against an object that differs in every field. */
function send(descriptor: ManagedDescriptor, sample: CommonSpec, note: Note): void {
  const desired = desiredOf({ spec: sample, objects: anyObjects })
  const { path } = descriptor.identity.collectionOf(sample)
  note('create', path, planCreate(descriptor, desired, 'marker'))
  const observed = { remote: differing, children: [{ ...differing, cidr: '10.0.0.0/8', action: 'allow' }] }
  const context = { markedMetadata: 'marker', inputsChanged: true }
  const update = planUpdate(descriptor, desired, observed.remote, context)
  if (update !== undefined) note('update', path, update.body)
  for (const operation of descriptor.children?.plan(desired, observed.remote.id, observed.children) ?? []) {
    if (operation.type !== 'delete') note(operation.type, descriptor.children?.collection.path ?? '', operation.body)
  }
  for (const operation of descriptor.children?.plan(desired, 'ipp_1', []) ?? []) {
    if (operation.type === 'create') note('create', descriptor.children?.collection.path ?? '', operation.body)
  }
}

const other = { id: 'other', uri: 'other' }
const differing: RemoteObject = {
  id: 'x_1',
  description: 'other',
  metadata: 'other',
  body: 'other',
  labels: { other: 'other' },
  headers: { other: 'other' },
  status_code: 299.5,
  backends: 'other',
  hostports: ['other:1'],
  http_endpoint_configuration: other,
  https_endpoint_configuration: other,
  endpoint_configuration: other,
  certificate: other,
  certificate_management_policy: { authority: 'other' },
  backend: { enabled: true, backend: other },
  ip_restriction: { enabled: true, ip_policies: [other] },
  mutual_tls: { enabled: true, certificate_authorities: [other] },
  tls_termination: { enabled: true, terminate_at: 'other' },
  policy: { enabled: true, inbound: { name: 'other' } },
  format: 'other',
  target: { s3: { other: 'other' } },
  enforced: undefined,
  ip_policies: [other],
  sources: [{ type: 'other' }],
  destinations: [other],
  acl: ['bind:other=other'],
}

const sent = fieldsSent()
const paths = [...sent.create.keys()].sort((a, b) => a.localeCompare(b))

test('every collection of the contract whose kind is due has one', () => {
  expect(new Set(paths)).toEqual(new Set(allCollections.map(({ path }) => path)))
})

describe.each(paths)('%s', (path) => {
  const row = collectionAt(path)
  const names = (fields: readonly { readonly name: string }[]) => fields.map(({ name }) => name)

  test('a spec can set every field of the create body, and no other', () => {
    const found = [...(sent.create.get(path) ?? [])]
    expect(new Set(found)).toEqual(new Set(names(createFields(row))))
  })

  test('a spec can change every field of the update body, and no other', () => {
    const found = [...(sent.update.get(path) ?? [])]
    expect(new Set(found)).toEqual(new Set(names(updateFields(row))))
  })
})

test('every response field that no request sets is in the status', () => {
  const remote: RemoteObject = {
    id: 'x_1',
    tunnels: [{ id: 'tunnels-seen', uri: '' }],
    addr: 'addr-seen:1',
    ns_targets: ['ns-targets-seen.example'],
    region_domains: ['region_domains-seen'],
    public_key: 'public_key-seen',
    key_type: 'key_type-seen',
    domain: '*.example.com',
    cname_target: 'cname-target-seen.example',
    acme_challenge_cname_target: 'challenge-target-seen.example',
    certificate: { id: 'certificate-seen', uri: 'certificate-uri-seen' },
    certificate_management_status: {
      renews_at: '2031-01-01T00:00:00Z',
      provisioning_job: {
        error_code: 'error_code-seen',
        msg: 'msg-seen',
        started_at: '2031-01-02T00:00:00Z',
        retries_at: '2031-01-03T00:00:00Z',
      },
    },
    subject_common_name: 'subject-seen',
    key_usages: ['key_usages-seen'],
    extended_key_usages: ['extended_key_usages-seen'],
    not_before: '2031-01-04T00:00:00Z',
    not_after: '2031-01-05T00:00:00Z',
    sources: [{ type: 'type-seen.v0', uri: 'source-uri-seen' }],
  }
  const shown = JSON.stringify(managed.map((descriptor) => descriptor.status.shown(remote, {})))
  const expected = [...JSON.stringify(remote).matchAll(/"([a-z_.-]*-seen[^"]*|2031[^"]*)"/g)].map(([, value]) => value)
  expect(expected).toHaveLength(22)
  for (const value of expected) expect(shown).toContain(value)
  const withoutStatus = allCollections.flatMap(({ path, fields }) =>
    fields
      .filter(({ name, sent: request, returned }) => returned && !request && !settable(path, name))
      .map(({ name }) => name),
  )
  expect(new Set(withoutStatus)).toEqual(
    new Set([
      ...['id', 'uri', 'created_at'], // of every resource: handled by the reconciler
      'token', // goes only into a Secret
      ...['ns_targets', 'region_domains', 'public_key', 'key_type', 'certificate'],
      ...['subject_common_name', 'not_before', 'not_after', 'key_usages', 'extended_key_usages'],
      ...['tunnels', 'addr', 'cname_target', 'acme_challenge_cname_target', 'certificate_management_status'],
    ]),
  )
})

/** Whether a request field with another name sets the response field `name`. */
function settable(path: string, name: string): boolean {
  return collectionAt(path).fields.some(({ sent: request }) => request?.shownAs === name)
}
