import type { ForeignAgent } from '../descriptor/pod/agent.ts'

/** An entry of a list whose entries Kubernetes distinguishes by name. */
export interface Named {
  readonly name: string
  readonly [field: string]: unknown
}

/** A variable as the API server stores it: without a value that is empty. */
export function variableOf({ name, value, valueFrom }: NonNullable<ForeignAgent['env']>[number]): Named {
  if (valueFrom === undefined) return { name, ...given({ value: value === '' ? undefined : value }) }
  const { configMapKeyRef, fieldRef } = valueFrom
  return { name, valueFrom: configMapKeyRef === undefined ? { fieldRef } : { configMapKeyRef } }
}

/** The list, or undefined: the API server leaves out empty ones. */
export function nonEmpty<T>(list: readonly T[] = []): readonly T[] | undefined {
  return list.length === 0 ? undefined : list
}

/** Without the fields that are undefined. */
export function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
