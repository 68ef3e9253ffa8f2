import { SchemaError, type SchemaNode } from './schema-node.ts'

/** Words that are not ours to spell. */
interface ForeignVocabulary {
  readonly words: readonly string[]
  /** Whose they are, and so why they stay as they are. */
  readonly reason: string
}

/** Every choice that is not in CamelCase. What is CamelCase by itself (`In` of a label selector, `CNAME`, `RSA`) needs no entry. */
export const foreignVocabularies: readonly ForeignVocabulary[] = [
  { words: ['1.0', '1.1', '1.2', '1.3'], reason: 'Versions of TLS are numbers; every tool writes them so.' },
  { words: ['P-256', 'P-384', 'P-521'], reason: 'The names that FIPS 186 gives to the curves.' },
]

const camelCase = /^[A-Z][A-Za-z0-9]*$/
const foreign = new Set(foreignVocabularies.map(({ words }) => words.join()))

/**
 * Checks that the words of every choice are in CamelCase, as the conventions of the Kubernetes API ask, or a vocabulary of others.
 *
 * @throws SchemaError with the path and the word.
 */
export function checkEnumWords(node: SchemaNode, path: string): void {
  const words = (node.enum ?? []).map(String)
  const odd = words.find((word) => !camelCase.test(word))
  if (odd !== undefined && !foreign.has(words.join())) {
    const remedy =
      'write it so and map it where it is sent, or list the words in src/schema/enum-words.ts with the reason'
    throw new SchemaError(path, `the word "${odd}" of a choice is not in CamelCase: ${remedy}`)
  }
  for (const [name, child] of Object.entries(node.properties ?? {})) checkEnumWords(child, `${path}.${name}`)
  const element = node.items ?? node.additionalProperties
  if (element) checkEnumWords(element, `${path}[]`)
}
