import type { OutputTarget } from '../../src/managed/descriptor/output.ts'

/** `spec.output` as tests read it, for any kind. */
export interface WithOutput {
  readonly output?: { readonly secret?: Named; readonly configMap?: Named }
}

interface Named {
  readonly name?: string
  readonly key?: string
}

/** Where a spec puts its token, with the documented defaults. */
export function tokenPlaceIn(spec: object, resource: string): { readonly name: string; readonly key: string } {
  const { name = resource, key = 'token' } = (spec as WithOutput).output?.secret ?? {}
  return { name, key }
}

/** Where a spec puts its texts; undefined if it has no output. */
export function outputIn(spec: object): OutputTarget | undefined {
  const { secret, configMap } = (spec as WithOutput).output ?? {}
  if (secret?.name !== undefined) return { kind: 'Secret', name: secret.name }
  return configMap?.name === undefined ? undefined : { kind: 'ConfigMap', name: configMap.name }
}
