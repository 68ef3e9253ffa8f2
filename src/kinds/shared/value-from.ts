import type { ValueFrom } from '../../managed/descriptor/common.ts'
import type { Input } from '../../managed/descriptor/descriptor.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { exactlyOne, type Rule } from '../../schema/rules.ts'

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
