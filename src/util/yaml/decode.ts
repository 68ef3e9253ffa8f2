import { YamlError } from './cursor.ts'
import type { MappingNode, ScalarNode, YamlNode } from './parser.ts'
import { type Resolved, resolveCore, resolveScalar } from './resolve.ts'

/** Something that kubectl accepts, and that other readers of YAML, or people, take for something else. */
export interface YamlWarning {
  /** From 1, counted from the start of the text that was read. */
  readonly line: number
  readonly message: string
}

/** A value of JSON, as kubectl sends it. @throws YamlError */
export function decode(root: YamlNode): { readonly value: unknown; readonly warnings: readonly YamlWarning[] } {
  const decoder = new Decoder()
  const value = decoder.value(root)
  return { value, warnings: decoder.warnings }
}

/** A key with its value. */
interface Entry {
  readonly name: string
  readonly value: unknown
}

/** Entries by what Go takes for the same key: the number 1 and the text "1" are two. */
type Entries = Map<string, Entry>

/** From nodes decoded by this share on, aliases are taken for an attack. */
const MOST_FROM_ALIASES = 0.99

class Decoder {
  readonly #warnings = new Map<YamlNode, string>()
  /** Aliases that are being decoded. */
  readonly #open = new Set<YamlNode>()
  /** With the document itself. */
  #decoded = 1
  #decodedInAliases = 0

  get warnings(): readonly YamlWarning[] {
    return [...this.#warnings]
      .map(([{ line }, message]) => ({ line: line + 1, message }))
      .sort((one, other) => one.line - other.line)
  }

  value(node: YamlNode): unknown {
    this.#count(node)
    switch (node.kind) {
      case 'alias':
        return this.#within(node, () => this.value(node.target))
      case 'scalar':
        return this.#scalar(node)
      case 'sequence':
        return node.items.map((item) => this.value(item))
      case 'mapping':
        return this.#object(node)
    }
  }

  /** @throws YamlError where go.yaml.in/yaml/v2 takes a document for an attack */
  #count({ line }: YamlNode): void {
    this.#decoded += 1
    if (this.#open.size > 0) this.#decodedInAliases += 1
    const ratio = this.#decodedInAliases / this.#decoded
    if (this.#decodedInAliases > 100 && this.#decoded > 1000 && ratio > allowedRatio(this.#decoded)) {
      throw new YamlError(line + 1, 'document contains excessive aliasing')
    }
  }

  #within<Value>(alias: YamlNode, decoded: () => Value): Value {
    if (this.#open.has(alias)) throw new YamlError(alias.line + 1, 'the value of an anchor contains itself')
    this.#open.add(alias)
    const value = decoded()
    this.#open.delete(alias)
    return value
  }

  #scalar(node: ScalarNode): unknown {
    const resolved = this.#resolved(node)
    const { type, value } = resolved
    if (type === 'int') return Number(value)
    if (type === 'float') {
      if (!Number.isFinite(value)) throw new YamlError(node.line + 1, 'JSON has no such number')
      return value + 0
    }
    return type === 'str' ? value.toWellFormed() : value
  }

  #resolved(node: ScalarNode): Resolved {
    const resolved = resolveScalar(node)
    if (node.tag === '' && node.isPlain) {
      const core = resolveCore(node.value)
      if (!isSame(resolved, core)) {
        const [own, other] = [shown(resolved), shown(core)]
        this.#warnings.set(
          node,
          `kubectl reads ${JSON.stringify(node.value)} as ${own}, YAML 1.2 as ${other}: quote it`,
        )
      }
    }
    return resolved
  }

  #object(node: MappingNode): unknown {
    const entries: Entries = new Map()
    this.#fill(node, entries)
    const names = new Set<string>()
    for (const { name } of entries.values()) {
      if (names.has(name))
        throw new YamlError(node.line + 1, `${JSON.stringify(name)} is a key twice: remove one of them`)
      names.add(name)
    }
    return Object.fromEntries([...entries.values()].map(({ name, value }) => [name, value]))
  }

  /** A merge key overrides the keys above it, other than YAML 1.1 says. */
  #fill({ pairs }: MappingNode, entries: Entries): void {
    const own = new Set<string>()
    for (const [key, value] of pairs) {
      if (isMerge(key)) {
        this.#warnings.set(key, 'YAML 1.2 has no merge key <<: kubectl merges, and other readers may not')
        this.#merge(value, entries)
        continue
      }
      const { identity, name } = this.#key(key)
      if (own.has(identity)) {
        this.#warnings.set(key, `${JSON.stringify(name)} is a key twice: kubectl uses the last, others refuse it`)
      }
      own.add(identity)
      entries.set(identity, { name, value: this.value(value) })
    }
  }

  #merge(node: YamlNode, entries: Entries): void {
    const sources = node.kind === 'sequence' ? [...node.items].reverse() : [node]
    for (const source of sources) {
      const target = source.kind === 'alias' ? source.target : source
      if (target.kind !== 'mapping') {
        throw new YamlError(source.line + 1, 'map merge requires map or sequence of maps as the value')
      }
      this.#count(source)
      if (source.kind !== 'alias') this.#fill(target, entries)
      else {
        this.#within(source, () => {
          this.#count(target)
          this.#fill(target, entries)
        })
      }
    }
  }

  /** A key, as sigs.k8s.io/yaml turns it into text. */
  #key(key: YamlNode): { readonly identity: string; readonly name: string } {
    this.#count(key)
    if (key.kind === 'alias') return this.#within(key, () => this.#key(key.target))
    if (key.kind !== 'scalar') throw new YamlError(key.line + 1, 'a key must be text')
    const resolved = this.#resolved(key)
    const name = keyText(resolved)
    if (name === undefined) throw new YamlError(key.line + 1, 'a key must be text: quote it')
    return { identity: `${resolved.type} ${name}`, name }
  }
}

function isMerge(key: YamlNode): boolean {
  return key.kind === 'scalar' && key.value === '<<' && (key.isPlain || key.tag === 'tag:yaml.org,2002:merge')
}

function allowedRatio(decoded: number): number {
  const share = Math.min(Math.max((decoded - 400_000) / 3_600_000, 0), 1)
  return MOST_FROM_ALIASES - 0.89 * share
}

function isSame(one: Resolved, other: Resolved): boolean {
  const isNumber = ({ type }: Resolved): boolean => type === 'int' || type === 'float'
  if (isNumber(one) && isNumber(other)) return Object.is(Number(one.value), Number(other.value))
  return one.type === other.type && one.value === other.value
}

function shown({ type, value }: Resolved): string {
  return type === 'str' ? 'text' : String(value)
}

function keyText({ type, value }: Resolved): string | undefined {
  switch (type) {
    case 'null':
      return undefined
    case 'int':
      // Go has another type for larger ones, and no text for that.
      return value < 2n ** 63n ? String(value) : undefined
    case 'float':
      return floatText(value)
    default:
      return type === 'str' ? value.toWellFormed() : String(value)
  }
}

/** The shortest text of a number in 32 bits, as Go's strconv.FormatFloat(value, 'g', -1, 32) writes it. */
function floatText(value: number): string {
  const single = Math.fround(value)
  if (Number.isNaN(single)) return '.nan'
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf'
  const lengths = Array.from({ length: 9 }, (_, index) => index + 1)
  const digits = lengths.find((length) => Math.fround(Number(single.toPrecision(length))) === single)
  const [mantissa = '0', exponent = '0'] = single.toExponential((digits ?? 9) - 1).split('e')
  const power = Number(exponent)
  const sign = Object.is(single, -0) ? '-' : ''
  if (power >= -4 && power < 6) return sign + String(Number(`${mantissa}e${power}`))
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}
