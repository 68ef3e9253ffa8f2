import { expect } from 'vitest'
import type { MODES, Values } from '../helm.ts'

/** What one value does. */
export interface ValueCase {
  /** The value, as README.md names it. */
  readonly path: string
  /** What it is set to. */
  readonly to: unknown
  /** Values that it needs beside it. */
  readonly beside?: Values
  /** The only mode in which it does something. Default: both. */
  readonly only?: keyof typeof MODES
  /** What the objects are like then, and are not without it. */
  readonly sees: readonly Sight[]
}

/** An object of the chart and how it has to be; without `like` it must not be there. */
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
