import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseLabelSelector } from '../managed/accounts/selector-text.ts'
import type { LabelSelector } from '../managed/descriptor/label-selector.ts'
import { isDomainPattern } from '../util/domain-pattern.ts'
import { parseDuration } from '../util/time.ts'

/** Parses the duration of a flag, `500ms`, `1.5s`, `2m` or `1h`, into milliseconds. */
export function duration(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new InvalidArgumentError('must be a duration, such as 500ms, 10s or 2m')
  return ms
}

/** Parses a whole number of at least one. */
export function positive(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('must be an integer of at least 1')
  return Number(value)
}

/** Parses a whole number from one to `most`. */
export function upTo(most: number): (value: string) => number {
  return (value) => {
    const number = positive(value)
    if (number > most) throw new InvalidArgumentError(`must be an integer of at most ${most}`)
    return number
  }
}

/** Checks the id of an installation, which must fit into the marker on each object. */
export function installation(value: string): string {
  const isFit = value !== '' && Buffer.byteLength(JSON.stringify(value)) - 2 <= INSTALLATION_BYTES
  if (!isFit) throw new InvalidArgumentError(`must have 1 to ${INSTALLATION_BYTES} bytes`)
  return value
}

/** The chart has the same limit. A default id may be longer: it consists of a UID, a namespace and a name. */
const INSTALLATION_BYTES = 255

/** Parses a label selector as kubectl's `-l` takes it. */
export function labelSelector(value: string): LabelSelector {
  const parsed = parseLabelSelector(value)
  if ('problem' in parsed) throw new InvalidArgumentError(parsed.problem)
  return parsed
}

/** Collects the values of a flag that may be given several times. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value]
}

/** Parses domain names and patterns separated by commas, and collects those of a flag that is given several times. */
export function domainPatterns(value: string, previous: readonly string[]): readonly string[] {
  const patterns = value.split(',').map((each) => each.trim())
  const wrong = patterns.find((each) => !isDomainPattern(each))
  if (wrong !== undefined)
    throw new InvalidArgumentError(`${JSON.stringify(wrong)} must be a lower-case DNS name or *.suffix`)
  return [...previous, ...patterns]
}

/** Adds the flags by which a command reaches a cluster. */
export function connectionOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'how to reach the cluster (default: KUBECONFIG, ~/.kube/config, or the pod itself)')
    .option('--context <name>', 'context of the kubeconfig')
}

/** The flag by which kubectl and culvert find a resource, after a space; nothing for one without a namespace. */
export function namespaceFlag(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` -n ${namespace}`
}

/** The flag by which a command prints for programs. */
export interface OutputFlags {
  readonly output: 'text' | 'json'
}

/** Adds the flag of `OutputFlags` to a command. */
export function outputOption(command: Command): Command {
  const option = new Option('-o, --output <format>', 'text for humans, or json for programs').choices(['text', 'json'])
  return command.addOption(option.default('text'))
}

/** The flag by which a command continues to print what changes. */
export interface WatchFlags {
  readonly watch?: boolean
}

/** Adds the flag of `WatchFlags` to a command. */
export function watchOption(command: Command): Command {
  return command.option('-w, --watch', 'then print what changes, until interrupted')
}
