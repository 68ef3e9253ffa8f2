import { expect } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
import type { ManagedDescriptor } from '../../../src/managed/descriptor/descriptor.ts'
import { EmulatorClient } from '../../builders/emulator-client.ts'
import { tokenPlaceIn } from '../../builders/output-of-spec.ts'
import { core, type Resource, type World } from './world.ts'

/** A Secret with its content. */
export interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export const secrets = core('secrets', 'Secret')

export async function secretNamed(world: World, name: string): Promise<Secret | undefined> {
  return world.kube.get<Secret>(secrets, { namespace: world.namespace, name })
}

/** Whether CRs of the kind have a token that the API shows only once. */
export function hasToken({ output }: ManagedDescriptor): boolean {
  return output?.type === 'one-time'
}

/** The token in the Secret of the CR's spec. */
export async function tokenOf(world: World, { metadata, spec }: Resource): Promise<string> {
  const place = tokenPlaceIn(spec, metadata.name)
  const secret = await secretNamed(world, place.name)
  expect(secret?.metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid])
  return Buffer.from(secret?.data?.[place.key] ?? '', 'base64').toString('utf8')
}

/** Id of the token's object according to the API; undefined if the token is invalid. */
export async function openedBy(world: World, kind: string, token: string): Promise<string | undefined> {
  if (kind === 'APIKey') return ownKeyId(world, token)
  const response = await fetch(`${world.emulator.adminUrl}/credentials/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.emulator.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  return response.status === 200 ? ((await response.json()) as { id: string }).id : undefined
}

/** Calls the API with the token; the journal, which the operator's calls enter too, has the id of its key. */
async function ownKeyId(world: World, token: string): Promise<string | undefined> {
  const { status, headers } = await new EmulatorClient(world.emulator.url, token).get('/ip_policies')
  const call = world.journal().find(({ operationId }) => operationId === headers.get('operation-id'))
  return status === 200 ? (call?.keyId ?? undefined) : undefined
}

/** Checks that the Secret of each CR of the kind holds the token of the object in its status. */
export async function expectLiveTokens(world: World, descriptor: ManagedDescriptor): Promise<void> {
  const { kind } = descriptor.definition
  if (!hasToken(descriptor)) return
  for (const cr of await world.list(kind)) {
    const token = await tokenOf(world, cr)
    expect(await openedBy(world, kind, token), `${kind}/${cr.metadata.name}`).toBe(cr.status?.id)
  }
}
