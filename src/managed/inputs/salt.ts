import { secretType } from '../../kube/core-types.ts'
import { KubeError, type KubeErrorCode } from '../../kube/kube-error.ts'
import type { KubeClient, KubeObject } from '../../kube/types.ts'
import { ownField } from '../../util/json.ts'
import type { Random } from '../../util/random.ts'
import { MANAGED_BY } from '../names.ts'

/** Name of the Secret in the operator's namespace that holds the salt. All installations in one namespace share it. */
export const SALT_SECRET = 'culvert-salt'

const DATA_KEY = 'salt'
const BYTES = 32
const TRIES = 5

/** Another process was faster, or the answer was lost: what exists now counts. */
const READ_AGAIN: ReadonlySet<KubeErrorCode> = new Set([
  'AlreadyExists',
  'Conflict',
  'NotFound',
  'Timeout',
  'Network',
  'Unavailable',
])

interface SaltSecret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export interface SaltOptions {
  readonly kube: KubeClient
  /** The operator's own. */
  readonly namespace: string
  readonly random: Random
}

/**
 * The salt of all fingerprints, from a Secret in the operator's own namespace. The Secret is created if there is none,
 * and replaced if its salt is too short. It is never overwritten, so that concurrent processes all get the same salt.
 * @throws KubeError if the Secret cannot be read or created.
 */
export async function keptSalt(options: SaltOptions): Promise<Buffer> {
  for (let tries = 1; ; tries++) {
    try {
      return await readOrMake(options)
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      if (!READ_AGAIN.has(error.code) || tries === TRIES) throw explained(error, options)
    }
  }
}

/** The salt, if there is one that may be used. Makes none. */
export async function readSalt({ kube, namespace }: Omit<SaltOptions, 'random'>): Promise<Buffer | undefined> {
  return saltIn(await kube.get<SaltSecret>(secretType, { namespace, name: SALT_SECRET }))
}

async function readOrMake({ kube, namespace, random }: SaltOptions): Promise<Buffer> {
  const key = { namespace, name: SALT_SECRET }
  const secret = await kube.get<SaltSecret>(secretType, key)
  const kept = saltIn(secret)
  if (kept !== undefined) return kept
  if (secret !== undefined) {
    const { uid, resourceVersion } = secret.metadata
    await kube.delete(secretType, key, { uid, resourceVersion })
  }
  const salt = Buffer.from(random.hex(BYTES), 'hex')
  await kube.create(secretType, key, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, labels: { [MANAGED_BY]: 'culvert' } },
    type: 'Opaque',
    immutable: true,
    data: { [DATA_KEY]: salt.toString('base64') },
  })
  return salt
}

function saltIn(secret: SaltSecret | undefined): Buffer | undefined {
  const salt = Buffer.from(ownField(secret?.data, DATA_KEY) ?? '', 'base64')
  return salt.length < BYTES ? undefined : salt
}

function explained(error: KubeError, { namespace }: SaltOptions): KubeError {
  const { code, message, status, reason } = error
  if (code !== 'Forbidden') return error
  const remedy = `Secret ${namespace}/${SALT_SECRET} holds the salt of all fingerprints: allow the operator to get and create Secrets in its own namespace`
  return new KubeError(code, `${remedy} (${message})`, { status, reason, cause: error })
}
