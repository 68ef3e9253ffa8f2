/** One CEL rule: an entry of `x-kubernetes-validations`. */
export interface Rule {
  /** CEL over `self` (and `oldSelf` on an update). */
  readonly rule: string
  /** One line that names the field and the remedy. The apiserver prepends the path. */
  readonly message: string
  /** Where the apiserver reports the failure, relative to the schema with the rule: `.region`. */
  readonly fieldPath?: string
  /** Default: FieldValueInvalid. */
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
}

/** Reserved words of CEL; a field with such a name is reached as `__word__`. */
const celReserved = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
)

/** The field's name in CEL: `namespace` is `__namespace__`, `a-b` is `a__dash__b`. */
export function celName(field: string): string {
  if (celReserved.has(field)) {
    return `__${field}__`
  }
  return field
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
}

/**
 * Limit of a string in bytes of UTF-8; `maxLength` counts characters (management-api.md § Conventions states bytes).
 */
export function bytesLimit(bytes: number, field: string): Rule {
  return {
    rule: `size(bytes(self)) <= ${bytes}`,
    message: `${field} must have at most ${bytes} bytes of UTF-8: shorten it`,
  }
}

/** CEL of {@link immutable}, by which the documentation recognises fixed fields. */
export const immutableRule = 'self == oldSelf'

/**
 * Rule of the field itself: once set, its value cannot change. An optional field may still be added or removed, since
 * the rule runs only when both old and new value exist; {@link fixedField} on the parent prevents that.
 */
export function immutable(message: string): Rule {
  return { rule: immutableRule, message, reason: 'FieldValueForbidden' }
}

interface FixedFieldOptions {
  /** What to do instead. Default: delete the resource and create it again. */
  readonly remedy?: string
  /** The value that an absent field means, which may be written out later. Default: absence is a value of its own. */
  readonly absent?: string
}

/** Rule of the parent object: `field` keeps the value that it had at create, or its absence. */
export function fixedField(
  field: string,
  { remedy = 'delete this resource and recreate it', absent }: FixedFieldOptions = {},
): Rule {
  return {
    rule: absent === undefined ? fixedFieldRule(field) : fixedValueRule(field, absent),
    message: `${field} is immutable: ${remedy}`,
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
  }
}

function fixedFieldRule(field: string): string {
  const name = celName(field)
  return `has(self.${name}) == has(oldSelf.${name}) && (!has(self.${name}) || self.${name} == oldSelf.${name})`
}

function fixedValueRule(field: string, absent: string): string {
  const name = celName(field)
  return `(has(self.${name}) ? self.${name} : '${absent}') == (has(oldSelf.${name}) ? oldSelf.${name} : '${absent}')`
}

/** Whether the CEL is that of {@link fixedField} for `field`. */
export function isFixedFieldRule(rule: string, field: string): boolean {
  const name = celName(field)
  return rule === fixedFieldRule(field) || rule.startsWith(`(has(self.${name}) ? self.${name} : `)
}

/**
 * Rule of the parent object: `field` may be set later, and then keeps its value.
 *
 * @param remedy what to do instead. Default: delete the resource and create it again.
 */
export function fixedOnceSet(field: string, remedy = 'delete this resource and recreate it'): Rule {
  return {
    rule: fixedOnceSetRule(field),
    message: `${field} is immutable once set: ${remedy}`,
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
  }
}

/** CEL of {@link fixedOnceSet}, by which the documentation recognises such fields. */
export function fixedOnceSetRule(field: string): string {
  const name = celName(field)
  return `!has(oldSelf.${name}) || (has(self.${name}) && self.${name} == oldSelf.${name})`
}

/**
 * Rule of an object in which exactly one of `fields` is set. For three or more, use a discriminator: {@link unionOf}.
 */
export function exactlyOne(fields: readonly string[]): Rule {
  return { rule: `${countSet(fields)} == 1`, message: `set exactly one of ${fields.join(', ')}` }
}

/** Rule of an object in which at most one of `fields` is set. */
export function atMostOne(fields: readonly string[]): Rule {
  return { rule: `${countSet(fields)} <= 1`, message: `set at most one of ${fields.join(', ')}: remove the others` }
}

/** The field that goes with a value of a discriminator. */
export type UnionMember = string | { readonly field: string; readonly optional: true }

/**
 * Rule of a union: `discriminator` names a member of `members`; that member is set, and no other. An optional member
 * may be left out, to avoid an empty object.
 *
 * @example
 * ```ts
 * unionOf('type', { Managed: { field: 'managed', optional: true }, Uploaded: 'uploaded' })
 * ```
 */
export function unionOf(discriminator: string, members: Readonly<Record<string, UnionMember>>): Rule {
  const fields = Object.entries(members).map(([value, member]) =>
    typeof member === 'string' ? { value, field: member, optional: false } : { value, ...member },
  )
  const clauses = fields.map(({ value, field, optional }) => {
    const chosen = `self.${celName(discriminator)} == '${value}'`
    const isSet = `has(self.${celName(field)})`
    return optional ? `(${chosen} || !${isSet})` : `(${chosen}) == ${isSet}`
  })
  const pairs = fields.map(({ value, field, optional }) => `${field} for ${value}${optional ? ' (optional)' : ''}`)
  return {
    rule: clauses.join(' && '),
    message: `set the member for the ${discriminator}, and no other: ${pairs.join(', ')}`,
  }
}

function countSet(fields: readonly string[]): string {
  return `[${fields.map((field) => `has(self.${celName(field)})`).join(', ')}].filter(set, set).size()`
}

const counting = /^\[(has\(self\.\w+\)(?:, has\(self\.\w+\))*)\]\.filter\(set, set\)\.size\(\) (?:==|<=) 1$/

/**
 * The fields, by their CEL names, that a rule of {@link exactlyOne} or {@link atMostOne} counts; none for another rule.
 */
export function countedMembers(rule: string): readonly string[] {
  const counted = counting.exec(rule)?.[1] ?? ''
  return [...counted.matchAll(/self\.(\w+)/g)].map(([, field = '']) => field)
}

/** The limit that a rule of {@link bytesLimit} sets; undefined for another rule. */
export function byteLimitOf({ rule }: Rule): number | undefined {
  return numberIn(/^size\(bytes\(self\)\) <= (\d+)$/, rule)
}

/** Limit of the names in a map, in characters, which a schema alone cannot express. */
export function keysLimit(characters: number, field: string): Rule {
  return {
    rule: `self.all(key, size(key) <= ${characters})`,
    message: `names in ${field} must have at most ${characters} characters: shorten the name`,
  }
}

/**
 * The limit that a rule of {@link keysLimit} sets, or one that also refuses empty names; undefined for another rule.
 */
export function keyLimitOf({ rule }: Rule): number | undefined {
  return numberIn(/^self\.all\(key, (?:size\(key\) > 0 && )?size\(key\) <= (\d+)\)$/, rule)
}

/**
 * Limit of a map of texts as JSON; names are counted in characters, since CEL knows no bound of their bytes. `entry` is
 * for the punctuation of each.
 */
export function mapLimit(bytes: number, entry: number, field: string): Rule {
  return {
    rule: `self.map(key, size(key) + size(bytes(self[key])) + ${entry}).sum() <= ${bytes}`,
    message: `${field} must have at most ${bytes} bytes in total as JSON: shorten it`,
  }
}

/** The limit that a rule of {@link mapLimit} sets; undefined for another rule. */
export function mapLimitOf({ rule }: Rule): number | undefined {
  return numberIn(/^self\.map\(key, size\(key\) \+ size\(bytes\(self\[key\]\)\) \+ \d+\)\.sum\(\) <= (\d+)$/, rule)
}

function numberIn(pattern: RegExp, rule: string): number | undefined {
  const found = pattern.exec(rule)?.[1]
  return found === undefined ? undefined : Number(found)
}

const unionClause = /^\(self\.\w+ == '[^']*'(?:\) == has\(self\.(\w+)\)| \|\| !has\(self\.(\w+)\)\))$/

/**
 * Fields of which a rule of {@link exactlyOne}, {@link atMostOne} or {@link unionOf} allows only one to be set; none
 * for another rule.
 */
export function exclusiveFields({ rule }: Rule): readonly string[] {
  const members = rule.split(' && ').map((clause) => {
    const [, needed, optional] = unionClause.exec(clause) ?? []
    return needed ?? optional
  })
  return members.every((member) => member !== undefined) ? members : countedMembers(rule)
}
