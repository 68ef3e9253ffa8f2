import { SALT_SECRET } from '../../../src/managed/inputs/salt.ts'
import { type Secret, secrets } from '../../cluster/support/tokens.ts'
import type { Resource, World } from '../../cluster/support/world.ts'

/** Key of the Secret with the salt of a world's operator. */
export function saltKey({ operatorNamespace: namespace }: World) {
  return { namespace, name: SALT_SECRET }
}

/** The salt that the Secret holds. */
export async function saltOf(world: World): Promise<Buffer> {
  const secret = await world.kube.get<Secret>(secrets, saltKey(world))
  return Buffer.from(secret?.data?.salt ?? '', 'base64')
}

/** Replaces the Secret, if there is one, by one with this salt; the next operator that leads reads it. */
export async function putSalt(world: World, salt: Buffer): Promise<void> {
  const metadata = saltKey(world)
  await world.kube.delete(secrets, metadata)
  const data = { salt: salt.toString('base64') }
  await world.kube.create(secrets, metadata, { apiVersion: 'v1', kind: 'Secret', metadata, data })
}

/** What the statuses of these resources record of secrets. */
export async function notesOf(
  world: World,
  resources: readonly (readonly [kind: string, name: string])[],
): Promise<readonly string[]> {
  const found = await Promise.all(resources.map(([kind, name]) => world.get(kind, name)))
  return found.flatMap((cr) => (cr === undefined ? [] : notes(cr)))
}

function notes({ status }: Resource): readonly string[] {
  const { inputsFingerprint, tokenDigest, keyFingerprint } = (status?.internal ?? {}) as Record<string, string>
  return [inputsFingerprint, tokenDigest, keyFingerprint].filter((note) => note !== undefined)
}
