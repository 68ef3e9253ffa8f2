/**
 * Everything that a terminal does not show as one visible character of its own: control characters, those that change
 * the reading direction, join or show nothing, lone surrogates, private ones, and any white space but the plain space.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}]|[^\S ]/gu

/** `text` with each unprintable character replaced by what `form` makes of it; line breaks stay if `lines` says so. */
export function escapedBy(text: string, form: (character: string) => string, lines = false): string {
  return text.replaceAll(UNPRINTABLE, (character) => (lines && character === '\n' ? character : form(character)))
}

/**
 * `text` with each unprintable character in the form `\u001b`, as JSON and YAML read it between double quotes. Texts
 * that differ remain different, unless they contain such forms themselves: quote those with `jsonText`.
 *
 * @param lines whether line breaks stay as they are
 */
export function escaped(text: string, lines = false): string {
  return escapedBy(text, unitsOf, lines)
}

/** JSON on one line, or indented, in printable characters alone. */
export function jsonText(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, undefined, indent), true)
}

/** A name as it is, if nothing in it could mislead; else quoted, so that no two look alike. */
export function nameText(name: string): string {
  return /^[\w.:@-]+$/.test(name) ? name : jsonText(name)
}

/** Text for people on a single line: line breaks, tabs and the like become a space, the rest is `escaped`. */
export function printable(text: string): string {
  return escaped(text.replaceAll(/[^\S ]+/g, ' '))
}

/** UTF-16 code units, since JSON knows no longer form. */
function unitsOf(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

/**
 * `value` in at most `max` UTF-16 code units, to fit into a bounded field or line. A lone surrogate is replaced: the
 * Kubernetes API server would store another character, and a status field would be written again and again.
 */
export function cut(value: string, max: number): string {
  return (value.length <= max ? value : `${value.slice(0, Math.max(0, max - 1))}…`.slice(0, max)).toWellFormed()
}

/** A number with its noun: `1 error`, `2 errors`. For nouns whose plural ends in s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
