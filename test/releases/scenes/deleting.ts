import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { applyAll, applyNeeds, casesTitled, subjectsOf } from '../../cluster/support/cases.ts'
import type { Resource, World } from '../../cluster/support/world.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { type Scene, type Subject, saying } from '../scene.ts'

const cases = casesTitled('minimal')
const SUFFIX = 'leaving'

/** Deletions in progress when the operator died. */
export const deletingBegun: Scene = {
  name: 'deleting-begun',
  about: 'One of each kind that is being deleted, while the API fails every DELETE.',
  async play({ world }) {
    await applyNeeds(world, cases, [SUFFIX])
    const subjects = subjectsOf(cases, SUFFIX)
    await applyAll(world, subjects)
    await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
    world.emulator.admin.addFault({ match: { method: 'DELETE', every: true }, act: { type: 'status', status: 503 } })
    for (const { kind, name } of subjects) await world.delete(kind, name)
    const met = ({ metadata, status }: Resource): boolean => {
      return (
        metadata.deletionTimestamp !== undefined &&
        status?.conditions?.some(({ reason }) => reason === 'ApiError') === true
      )
    }
    const told = subjects.map(async ({ kind, name }): Promise<Subject> => {
      await world.until(kind, name, 'was not deleted', met, 90_000)
      return { kind, name, state: 'ApiError', phase: 'Terminating', after: 'Gone' }
    })
    return Promise.all(told)
  },
}

const certified = { sshCertificateAuthorityRef: { name: 'in-use' }, publicKey: sshKeys.ed25519, principals: ['alice'] }

/** Their dependencies are about to be deleted. */
const users: readonly Manifest[] = [
  {
    kind: 'Edge',
    name: 'user',
    spec: {
      protocol: 'TLS',
      hostports: [
        { type: 'ReservedDomain', reservedDomainRef: { name: 'in-use' }, port: 443 },
        { type: 'ReservedAddress', reservedAddressRef: { name: 'in-use' } },
      ],
      backend: { name: 'in-use' },
      ipRestriction: { ipPolicyRefs: [{ name: 'in-use' }] },
      mutualTLS: { certificateAuthorityRefs: [{ name: 'in-use' }] },
    },
  },
  { kind: 'APIKey', name: 'user', spec: { owner: { botUserRef: { name: 'in-use' } } } },
  { kind: 'SSHUserCertificate', name: 'user', spec: certified },
  {
    kind: 'EventSubscription',
    name: 'user',
    spec: { sources: [{ type: 'ip_policy_created.v0' }], destinationRefs: [{ name: 'in-use' }] },
  },
]

const targets: readonly Manifest[] = [
  'ReservedDomain',
  'ReservedAddress',
  'Backend',
  'IPPolicy',
  'CertificateAuthority',
  'BotUser',
  'SSHCertificateAuthority',
  'EventDestination',
].map((kind) => ({ kind, name: 'in-use', spec: specsOf(kind)[0]?.spec('in-use') ?? {} }))

/** Deletions that wait for others. */
export const deletingInUse: Scene = {
  name: 'deleting-in-use',
  about: 'One of each kind that others can use, being deleted while something uses it.',
  async play({ world }) {
    await applyAll(world, targets)
    await ready(world, targets)
    await applyAll(world, users)
    await ready(world, users)
    for (const { kind, name } of targets) await world.delete(kind, name)
    return Promise.all(targets.map(({ kind, name }) => saying(world, kind, name, 'Deleting', 'Terminating')))
  },
}

async function ready(world: World, manifests: readonly Manifest[]): Promise<void> {
  await Promise.all(manifests.map(({ kind, name }) => world.ready(kind, name, 60_000)))
}
