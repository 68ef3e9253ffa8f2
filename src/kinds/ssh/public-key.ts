import { Type } from 'typebox'
import { valueFrom } from '../../managed/descriptor/common.ts'
import type { Input } from '../../managed/descriptor/descriptor.ts'
import type { Desired } from '../../managed/descriptor/desired.ts'
import { text } from '../../schema/define.ts'
import { givenText, inlineOrFrom, inputsFrom } from '../building-blocks/spec-fields.ts'
import { isKeyLine, PUBLIC_KEY_LENGTH } from './key-lines.ts'

/**
 * A public key in authorized-keys format, inline or from a Secret or ConfigMap. `change` describes the effect of
 * changing it.
 */
export function publicKeyFields(description: string, change: string) {
  return {
    publicKey: Type.Optional(
      text({
        description: `${description} In authorized-keys format, as in the file \`id_ed25519.pub\`; either here or in publicKeyFrom. ${change}`,
        minLength: 1,
        maxLength: PUBLIC_KEY_LENGTH,
        rules: [
          {
            rule: "self.matches('^[a-z0-9@.-]+[ ]+[A-Za-z0-9+/]+')",
            message:
              'publicKey is not in authorized-keys format: give the line "type base64 comment" of a file such as id_ed25519.pub',
          },
        ],
      }),
    ),
    publicKeyFrom: Type.Optional(valueFrom(`Where to read the public key from, instead of publicKey. ${change}`)),
  }
}

export const publicKeyRule = inlineOrFrom('publicKey')

/** Paths whose change replaces the object, for the kind's page. */
export const publicKeyReplacing = ['publicKey', 'publicKeyFrom'] as const

type Keyed = Parameters<typeof givenText>[2]

interface WithPublicKey {
  readonly publicKey?: string
  readonly publicKeyFrom?: NonNullable<Keyed>
}

export function publicKeyInputs({ publicKeyFrom }: WithPublicKey): readonly Input[] {
  return inputsFrom('publicKey', publicKeyFrom)
}

/** Problems of an inline key. */
export function publicKeyProblems({ publicKey }: WithPublicKey): readonly string[] {
  return publicKey === undefined ? [] : problemsOf('spec.publicKey', publicKey)
}

/** Problems of a key from a Secret or ConfigMap. */
export function publicKeyInputProblems(desired: Desired<WithPublicKey>): readonly string[] {
  return desired.spec.publicKeyFrom === undefined ? [] : problemsOf('spec.publicKeyFrom', publicKeyOf(desired))
}

/** The line to send, without surrounding white space such as a file's last line break. */
export function publicKeyOf(desired: Desired<WithPublicKey>): string {
  return givenText(desired, desired.spec.publicKey, desired.spec.publicKeyFrom).trim()
}

/** Never quotes the text: a private key put there by mistake must not spread. */
function problemsOf(path: string, value: string): readonly string[] {
  if (value.includes('PRIVATE KEY')) {
    return [`${path}: holds a private key, which must never be uploaded: put the public key there, as in a .pub file`]
  }
  if (isKeyLine(value)) return []
  return [
    `${path}: is not a public key in authorized-keys format: put the one line "type base64 comment" of a .pub file there`,
  ]
}
