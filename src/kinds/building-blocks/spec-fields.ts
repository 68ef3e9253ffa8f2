import { objectID, type ValueFrom } from '../../managed/descriptor/common.ts'
import type { Input } from '../../managed/descriptor/descriptor.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { object, text } from '../../schema/define.ts'
import { exactlyOne, type Rule } from '../../schema/rules.ts'
import { refId } from './remote.ts'

/** Spec field that refers to an endpoint configuration, by id only, since no kind creates them. */
export function endpointConfigurationRef(traffic: string) {
  return object(
    { id: objectID('Id of the endpoint configuration at the API.') },
    {
      description: `An existing endpoint configuration that the service applies to ${traffic}. Culvert does not manage endpoint configurations. Default: one that was set outside Culvert stays; one that the spec named before is removed.`,
    },
  )
}

/** A reference to an object that no kind creates. */
interface ForeignRef {
  readonly id: string
}

/** The reference that the object has, as a spec has it; undefined if it has none. */
export function writtenConfiguration(held: unknown): ForeignRef | undefined {
  const id = refId(held)
  return id === undefined ? undefined : { id }
}

/** The ids that a spec sets in such references, by field. */
export function foreignIdsOf(refs: Readonly<Record<string, ForeignRef | undefined>>) {
  return Object.entries(refs).flatMap(([path, ref]) =>
    ref === undefined ? [] : [{ path: `spec.${path}.id`, id: ref.id }],
  )
}

/**
 * The id to send: null removes the one that the spec named before, undefined leaves alone one that was set outside
 * Culvert.
 */
export function wantedConfiguration(
  desired: Pick<Desired<unknown>, 'status'>,
  part: string,
  ref: ForeignRef | undefined,
): string | null | undefined {
  return ref?.id ?? (isOurs(desired, part) ? null : undefined)
}

/** Whether a module that the spec no longer names was added by Culvert. */
export function isOurs({ status }: Pick<Desired<unknown>, 'status'>, module: string): boolean {
  return (status.internal?.appliedModules ?? []).includes(module)
}

/**
 * A region of the service (`management-api.md § Domains, addresses, ingress`). A pattern, not a list: the service adds
 * regions, and the API refuses a region that it does not know.
 */
export function region(description: string) {
  return text({
    description: `${description} For example us, eu or ap; the API refuses a region that it does not know.`,
    maxLength: 32,
    mustBe: 'a region in lower case, such as us, eu or ap',
    pattern: '^[a-z]{2,8}(-[a-z0-9]+)*$',
  })
}

/** Rule of a spec that has `field` either inline or as `From` a Secret or ConfigMap. */
export function inlineOrFrom(field: string): Rule {
  return exactlyOne([field, `${field}From`])
}

/** The inputs that `spec.<field>From` names. */
export function inputsFrom(field: string, from: ValueFrom | undefined): readonly Input[] {
  const path = `spec.${field}From`
  const { secretKeyRef, configMapKeyRef } = from ?? {}
  return [
    ...(secretKeyRef === undefined
      ? []
      : [{ path: `${path}.secretKeyRef`, source: 'Secret' as const, ref: secretKeyRef }]),
    ...(configMapKeyRef === undefined
      ? []
      : [{ path: `${path}.configMapKeyRef`, source: 'ConfigMap' as const, ref: configMapKeyRef }]),
  ]
}

/** The text: `inline`, or the content of the Secret or ConfigMap. CEL ensures that there is one. */
export function givenText(desired: Desired<unknown>, inline: string | undefined, from: ValueFrom | undefined): string {
  const [input] = inputsFrom('', from)
  return inline ?? (input === undefined ? '' : desired.input(input.source, input.ref))
}

/** The member that a discriminator chooses is missing: an object that this CRD refuses was stored under another CRD. */
class MissingMemberError extends Error {
  override readonly name = 'MissingMemberError'
  readonly code = 'MISSING_MEMBER'

  constructor(path: string) {
    super(`${path} is missing: set it, or choose another type`)
  }
}

/**
 * The member of a union that its discriminator chooses, which the CRD ensures is there.
 *
 * @param path path of the member, such as `spec.firehose`
 * @throws MissingMemberError
 */
export function chosen<Member>(member: Member | undefined, path: string): Member {
  if (member === undefined) throw new MissingMemberError(path)
  return member
}
