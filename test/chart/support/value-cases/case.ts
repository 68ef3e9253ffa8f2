import { expect } from 'vitest'
import type { MODES, Values } from '../helm.ts'

/** The effect of one value. */
export interface ValueCase {
  /** The value, as named in README.md. */
  readonly path: string
  /** Its new setting. */
  readonly to: unknown
  /** Other values that it needs. */
  readonly beside?: Values
  /** The only mode in which it has an effect. Default: both. */
  readonly only?: keyof typeof MODES
  /** What the objects have then, and do not have without it. */
  readonly sees: readonly Sight[]
}

/** An object of the chart and its expected content; without `like` it must not exist. */
export interface Sight {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly like?: Readonly<Record<string, unknown>>
}

export function object(kind: string, name: string, like: Readonly<Record<string, unknown>> = {}): Sight {
  return { kind, name, like }
}

export function absent(kind: string, name: string): Sight {
  return { kind, name }
}

/** The operator's Deployment. */
export function deployment(spec: Readonly<Record<string, unknown>>): Sight {
  return object('Deployment', 'culvert', { spec })
}

export function pod(spec: Readonly<Record<string, unknown>>): Sight {
  return deployment({ template: { spec } })
}

export function container(fields: Readonly<Record<string, unknown>>): Sight {
  return pod({ containers: [fields] })
}

/** Arguments of the operator. */
export function args(...list: readonly string[]): Sight {
  return container({ args: expect.arrayContaining([...list]) })
}

/** An environment variable of the operator. */
export function env(name: string, value: string): Sight {
  return container({ env: expect.arrayContaining([{ name, value }]) })
}
