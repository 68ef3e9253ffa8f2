import { describe, expect, test } from 'vitest'
import type { AccountResource } from '../../../../src/managed/account-resource.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import type { CommandResource } from '../../../../src/managed/sessions/command-resource.ts'
import type { SessionStore } from '../../../../src/managed/sessions/session-store.ts'
import { ModelKube } from '../../../builders/model-kube.ts'
import { account, typeOf, watchedStore } from '../../../builders/watched-store.ts'
import { VirtualTime } from '../../../faults/simulation/virtual-time.ts'

type Fields = Readonly<Record<string, unknown>>

const shop = { kind: 'Account', namespace: 'shop', name: 'default' } as const
const inUse = { accountRef: { kind: 'Account', name: 'default' } }

function create(kube: ModelKube, kind: string, name: string, content: Fields): CustomResource {
  return kube.create<CustomResource>(typeOf(kind), { namespace: 'shop', name }, content)
}

/** Namespaces and names of what was found. */
const names = (found: readonly AccountResource[]): readonly string[] => {
  return found.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
}

interface Seen {
  readonly sessions: SessionStore
  readonly accounts: () => readonly AccountResource[]
}

/** How an index is asked: in a cluster with these resources, a question whose answer it is. */
interface Case {
  readonly cluster: (kube: ModelKube) => void
  readonly ask: (seen: Seen) => unknown
  readonly answer: unknown
}

/** An account that mirrors its sessions, with one that it shows; its status names the account, no owner does. */
function mirroring(kube: ModelKube): void {
  create(kube, 'Account', 'default', { spec: { ...account, mirrorSessions: { enabled: true, namespace: 'shown' } } })
  const owner = kube.get<AccountResource>(typeOf('Account'), { namespace: 'shop', name: 'default' })
  if (owner === undefined) throw new Error('there is no account')
  const ownerReferences = [{ apiVersion: owner.apiVersion, kind: 'Account', name: 'default', uid: owner.metadata.uid }]
  create(kube, 'TunnelSession', 'ts-owned', { metadata: { ownerReferences } })
  create(kube, 'TunnelSession', 'ts-named', { status: inUse })
}

const cases: Readonly<Record<string, Case>> = {
  shows: {
    cluster: mirroring,
    ask: ({ sessions, accounts }) => {
      return accounts().flatMap((each) => {
        return sessions.mirroredOf('TunnelSession', each).map(({ metadata }) => metadata.name)
      })
    },
    answer: ['ts-owned', 'ts-named'],
  },
  mirroredInto: {
    cluster: mirroring,
    ask: ({ sessions }) =>
      ['shown', 'shop'].map((namespace) => names(sessions.mirroredInto('TunnelSession', namespace))),
    answer: [['shop/default'], []],
  },
  mirrorName: {
    cluster: mirroring,
    ask: ({ sessions }) => sessions.namespacesShowing('TunnelSession', 'ts-owned', shop),
    answer: ['shop'],
  },
  actedOn: {
    cluster: (kube) => {
      create(kube, 'Account', 'default', { spec: account })
      const actions = [
        { action: 'Restart', state: 'Done' },
        { action: 'Update', state: 'Pending' },
      ]
      create(kube, 'TunnelSessionCommand', 'restart', { status: { ...inUse, targets: [{ id: 'ts_1', actions }] } })
    },
    ask: ({ sessions }) => {
      const another = { metadata: { uid: 'another' } } as CommandResource
      return ['Restart', 'Update'].map((action) => sessions.actionsOn(shop, { id: 'ts_1', action }, another))
    },
    answer: [[{ action: 'Restart', state: 'Done' }], []],
  },
}

describe('what is in the index is found', () => {
  test.each(Object.entries(cases))('%s', async (_, { cluster, ask, answer }) => {
    const kube = new ModelKube()
    cluster(kube)
    const { store, sessions } = await watchedStore(kube, new VirtualTime())
    expect(ask({ sessions, accounts: () => store.accounts() })).toEqual(answer)
  })
})
