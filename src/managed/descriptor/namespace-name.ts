import { text } from '../../schema/define.ts'

/** The name of a namespace. */
export function namespaceName(description: string) {
  return text({
    description,
    minLength: 1,
    maxLength: 63,
    mustBe: 'the name of a namespace: lower-case letters, digits and -, beginning and ending with a letter or digit',
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  })
}
