import { secretType } from '../../kube/core-types.ts'
import { shortName, statusOf } from '../cr.ts'
import type { ComposedDescriptor, CredentialForm, TunnelStatus } from '../descriptor/tunnel.ts'
import { resourceTypeOf } from '../kinds-registry.ts'
import { openRequest, requestOf } from '../run/requests.ts'
import type { TunnelContext } from './context.ts'
import { type Deployment, isRolledOut, mountedSecret, tokenVersion } from './deployment.ts'
import { dueAt, formOf, membersOf, planKey, stateOf } from './key-plan.ts'
import { marks, tunnelCredential } from './objects.ts'
import { type MountedKey, RETIRE_MS } from './pod.ts'
import { notReady, type Route, refuseUnready } from './route.ts'
import { writeStatus } from './status-writer.ts'
import {
  type Changed,
  credentialName,
  PRIVATE_KEY,
  PUBLIC_KEY,
  TOKEN,
  type TunnelResource,
  tunnelStatus,
} from './tunnel-resource.ts'

const FORMS: readonly CredentialForm[] = ['key', 'token']

/** What agents connect with, once it can be used. */
interface Usable {
  readonly mounted: MountedKey
  /** Changes whenever agents have to be replaced, in addition to the name of the Secret. */
  readonly version: string | undefined
}

/**
 * The keys and tokens of Tunnels, and their credentials: made, replaced one number after the other, and retired once no
 * agent uses them any more.
 */
export class TunnelCredentials {
  readonly #context: Omit<TunnelContext, 'policy'>

  constructor(context: Omit<TunnelContext, 'policy'>) {
    this.#context = context
  }

  /** Decides which key or token there should be, and records it before anything is made or deleted. */
  async plan(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    deployment: Deployment | undefined,
  ): Promise<TunnelResource> {
    const status = tunnelStatus(cr)
    const { namespace, name } = cr.metadata
    const secret = mountedSecret(deployment)
    const plan = planKey({
      tunnel: name,
      spec: cr.spec,
      status,
      requested: requestOf(cr, 'rotate'),
      isThere: status.key?.issuedAt === undefined || (await this.#isThere(namespace, status.key.name)),
      mounted: { key: revisionOf('key', name, secret), token: revisionOf('token', name, secret) },
      now: this.#context.clock.now(),
    })
    for (const form of FORMS) {
      const { former } = stateOf(plan as TunnelStatus, form)
      if (former === undefined || former.revision === stateOf(status, form).former?.revision) continue
      const message = `${form} ${former.revision} is being replaced: agents switch to the new one first`
      this.#context.events.record(cr, { type: 'Normal', reason: 'Rotating', message })
    }
    return await this.#write(descriptor, cr, { ...status, ...plan })
  }

  async #isThere(namespace: string | undefined, name: string): Promise<boolean> {
    return (await this.#context.kube.get({ ...secretType, metadataOnly: true }, { namespace, name })) !== undefined
  }

  /** Makes the key that was planned. A key that exists is never written again. */
  async issue(descriptor: ComposedDescriptor, cr: TunnelResource): Promise<TunnelResource> {
    const { key } = tunnelStatus(cr)
    if (key === undefined || key.issuedAt !== undefined) return cr
    // Loaded for the first key only: the library is large.
    const { newKeyPair } = await import('../../ssh/new-key.ts')
    const { privateKey, publicKey } = newKeyPair()
    const data = { [PRIVATE_KEY]: base64(privateKey), [PUBLIC_KEY]: base64(`${publicKey}\n`) }
    await this.#context.objects.make(cr, {
      type: secretType,
      name: key.name,
      ...marks(cr.metadata.name),
      content: { type: 'Opaque', data },
    })
    return await this.#issued(descriptor, cr, 'key')
  }

  async #issued(descriptor: ComposedDescriptor, cr: TunnelResource, form: CredentialForm): Promise<TunnelResource> {
    const status = tunnelStatus(cr)
    const { current, former } = stateOf(status, form)
    if (current === undefined || current.issuedAt !== undefined) return cr
    const issuedAt = time(this.#context.clock.now())
    return await this.#write(descriptor, cr, {
      ...status,
      ...membersOf(form, { current: { ...current, issuedAt }, former }),
    })
  }

  /** What agents connect with, once its credential can be used. @throws WaitError until then. */
  async keep(
    descriptor: ComposedDescriptor,
    fresh: TunnelResource,
    { labels, accountRef }: Pick<Route, 'labels' | 'accountRef'>,
  ): Promise<Usable & { readonly cr: TunnelResource }> {
    const { kinds, resources, objects } = this.#context
    const { credentialRef } = fresh.spec
    const { namespace, name } = fresh.metadata
    const form = formOf(fresh.spec)
    const own = form === undefined ? undefined : stateOf(tunnelStatus(fresh), form).current
    let cr = fresh
    if (form !== undefined && own !== undefined) {
      const type = kinds.resourceType(descriptor.credentials[form])
      await objects.keep(cr, tunnelCredential(form, { tunnel: name, revision: own.revision, labels, accountRef, type }))
      cr = await this.#issued(descriptor, cr, form)
    }
    const kind = descriptor.credentials[form ?? 'key']
    const target = { kind, namespace, name: credentialRef?.name ?? own?.name ?? '' }
    const found = resources.get(target)
    const about = `${credentialRef === undefined ? '' : 'spec.credentialRef: '}${shortName(target)}`
    if (found === undefined) throw notReady(`${about} does not exist${own === undefined ? ': create it' : ' yet'}`)
    refuseUnready(found, about)
    if (credentialRef !== undefined) {
      const { name: secret, key } = credentialRef.privateKeySecretRef
      return { cr, mounted: { secret, key }, version: undefined }
    }
    const isToken = form === 'token'
    // A token that was lost or altered is replaced under the same name, with another object.
    return {
      cr,
      mounted: { secret: target.name, key: isToken ? TOKEN : PRIVATE_KEY },
      version: isToken ? statusOf(found).id : undefined,
    }
  }

  /** Deletes former keys and tokens with their credentials, a while after the last agent with them was replaced. */
  async retire(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    deployment: Deployment | undefined,
    { secret }: MountedKey,
  ): Promise<TunnelResource> {
    if (deployment === undefined) return cr
    const isUnused = mountedSecret(deployment) === secret && isRolledOut(deployment)
    let kept = cr
    for (const form of FORMS) kept = await this.#retireForm(descriptor, kept, form, isUnused)
    return kept
  }

  async #retireForm(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    form: CredentialForm,
    isUnused: boolean,
  ): Promise<TunnelResource> {
    const { clock, objects, kinds } = this.#context
    const status = tunnelStatus(cr)
    const { current, former } = stateOf(status, form)
    if (former === undefined) return cr
    const write = async (next: typeof former | undefined): Promise<TunnelResource> => {
      return await this.#write(descriptor, cr, { ...status, ...membersOf(form, { current, former: next }) })
    }
    if (!isUnused) return await write({ revision: former.revision })
    const retireAt = former.retireAt ?? time(clock.now() + RETIRE_MS)
    if (Date.parse(retireAt) > clock.now()) return await write({ ...former, retireAt })
    const name = credentialName(form, cr.metadata.name, former.revision)
    const credential = kinds.managedKind(descriptor.credentials[form])
    if (credential !== undefined) await objects.remove(cr, resourceTypeOf(credential), name)
    // The Secret with a token belongs to its credential.
    if (form === 'key') await objects.remove(cr, secretType, name)
    return await write(undefined)
  }

  async #write(
    descriptor: ComposedDescriptor,
    cr: TunnelResource,
    after: Changed<TunnelStatus>,
  ): Promise<TunnelResource> {
    return await writeStatus(this.#context, { descriptor, cr }, after)
  }
}

/** What agents mount now, or will mount first: enough to have their Pods checked before anything exists. */
export function expectedKey(
  { spec, metadata, status = {} }: TunnelResource,
  deployment: Deployment | undefined,
): Usable {
  const form = formOf(spec)
  if (form === undefined) {
    const { name: secret = '', key = '' } = spec.credentialRef?.privateKeySecretRef ?? {}
    return { mounted: { secret, key }, version: undefined }
  }
  const [key, mounted] = [form === 'token' ? TOKEN : PRIVATE_KEY, mountedSecret(deployment)]
  const isOwn = revisionOf(form, metadata.name, mounted) !== undefined
  const planned = stateOf(status, form).current?.name ?? credentialName(form, metadata.name, 1)
  return { mounted: { secret: isOwn && mounted ? mounted : planned, key }, version: tokenVersion(deployment) }
}

/** When something of a Tunnel's keys and tokens is due by itself, as wall time in milliseconds. */
export function duesOf(cr: TunnelResource, now: number): readonly number[] {
  const status = tunnelStatus(cr)
  const formers = FORMS.flatMap((form) => stateOf(status, form).former ?? [])
  const retired = formers.flatMap(({ retireAt }) => (retireAt === undefined ? [] : [Date.parse(retireAt)]))
  const form = formOf(cr.spec)
  const isLeft = FORMS.some((each) => {
    const { current, former } = stateOf(status, each)
    return each !== form && current !== undefined && former === undefined
  })
  // It gives way as soon as the one before it is gone.
  if (isLeft) return [...retired, now]
  if (form !== undefined && stateOf(status, form).former !== undefined) return retired
  // A request made while there was a former one has waited until now.
  const nextAt = openRequest(cr, 'rotate') === undefined ? dueAt(cr.spec, status) : now
  return nextAt === undefined ? retired : [...retired, nextAt]
}

/** The number in the name of a Secret that Culvert made for that Tunnel. */
function revisionOf(form: CredentialForm, tunnel: string, secret: string | undefined): number | undefined {
  const revision = Number(secret?.slice(credentialName(form, tunnel, 0).length - 1))
  const isOwn = Number.isSafeInteger(revision) && revision > 0 && secret === credentialName(form, tunnel, revision)
  return isOwn ? revision : undefined
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
