import { createHash } from 'node:crypto'
import { CHOICES, type ChoiceEntry } from './choice-table.ts'

type Table = typeof CHOICES
export type ChoiceName = keyof Table

/** A value for each open point. The emulator's code reads it at each use, so that a test may change it. */
export type Choices = { readonly [Name in ChoiceName]: keyof Table[Name]['values'] & string }

const NAMES = Object.keys(CHOICES) as readonly ChoiceName[]

/** The entry of a choice, with its values by name. */
function entryOf(name: ChoiceName): ChoiceEntry {
  return CHOICES[name]
}

/** Every point as decided in `docs/api-decisions.md`. */
export const DECIDED: Choices = from((name) => entryOf(name).decided)

/** A value other than the decided one. */
export interface Alternative {
  readonly name: ChoiceName
  readonly value: string
}

/** All alternatives, in the order of the table. */
export const ALTERNATIVES: readonly Alternative[] = NAMES.flatMap((name) =>
  alternativesOf(name).map((value) => ({ name, value })),
)

/**
 * An alternative for every choice, drawn by a seed: the same seed draws the same, and a new choice does not affect
 * others.
 */
export function drawnBy(seed: string): Choices {
  return from((name) => {
    const values = alternativesOf(name)
    const drawn = createHash('sha256')
      .update(JSON.stringify([seed, name]))
      .digest()
      .readUInt32BE(0)
    return values[drawn % values.length] ?? entryOf(name).decided
  })
}

/** `choices` with one of them changed. */
export function withAlternative(choices: Choices, { name, value }: Alternative): Choices {
  return from((each) => (each === name ? value : choices[each]))
}

/**
 * Reads `name=value`.
 *
 * @throws OptionError listing what is allowed
 */
export function readChoice(text: string): Alternative {
  const split = text.indexOf('=')
  const [given, value] = split < 0 ? [text, ''] : [text.slice(0, split), text.slice(split + 1)]
  const name = NAMES.find((each) => each === given)
  if (name === undefined) throw new OptionError(`choice ${text}`, `NAME=VALUE, with NAME one of ${NAMES.join(', ')}`)
  const values = Object.keys(entryOf(name).values)
  if (!values.includes(value))
    throw new OptionError(`choice ${text}`, `${name}=VALUE, with VALUE one of ${values.join(', ')}`)
  return { name, value }
}

/** The choices that differ from the decided ones, as `name=value`. */
export function contraryOnes(choices: Choices): readonly string[] {
  return NAMES.filter((name) => choices[name] !== DECIDED[name]).map((name) => `${name}=${choices[name]}`)
}

/** The same choices, but with every answer spelled as decided; follows changes of `choices`. */
export function spelledPlainly(choices: Choices): Choices {
  const plain = {}
  for (const name of NAMES) {
    const get = (): string => (entryOf(name).about === 'spelling' ? DECIDED[name] : choices[name])
    Object.defineProperty(plain, name, { get, enumerable: true })
  }
  return plain as Choices
}

function alternativesOf(name: ChoiceName): readonly string[] {
  const { decided, values } = entryOf(name)
  return Object.keys(values).filter((value) => value !== decided)
}

/** Every caller takes values from the table. */
function from(chosen: (name: ChoiceName) => string): Choices {
  return Object.fromEntries(NAMES.map((name) => [name, chosen(name)])) as Choices
}

/** An option value that cannot be parsed. */
export class OptionError extends Error {
  readonly code = 'INVALID_OPTION'

  constructor(what: string, example: string) {
    super(`cannot read the ${what}; write it like ${example}`)
    this.name = 'OptionError'
  }
}
