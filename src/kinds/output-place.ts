import { Type } from 'typebox'
import type { OutputTarget } from '../managed/types/descriptor.ts'
import { text } from '../schema/define.ts'
import { atMostOne } from '../schema/rules.ts'

function objectName(kind: OutputTarget['kind'], what: string) {
  return Type.Optional(
    text({
      description: `Name of the ${kind} that ${what}. Culvert makes it, owns it, and deletes it with this resource; one that exists already is refused. Default: none is written.`,
      minLength: 1,
      maxLength: 253,
      pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
    }),
  )
}

/** Where public texts of a resource go, if they are asked for. `what` finishes "the ConfigMap that …". */
export function configMapPlace(what: string) {
  return { configMapName: objectName('ConfigMap', what) }
}

/** The same, into a Secret or a ConfigMap; goes with `onePlace`. */
export function outputPlace(what: string) {
  return { secretName: objectName('Secret', what), ...configMapPlace(what) }
}

export const onePlace = atMostOne(['secretName', 'configMapName'])

interface Placed {
  readonly secretName?: string
  readonly configMapName?: string
}

export function placeOf({ secretName, configMapName }: Placed): OutputTarget | undefined {
  if (secretName !== undefined) return { kind: 'Secret', name: secretName }
  return configMapName === undefined ? undefined : { kind: 'ConfigMap', name: configMapName }
}
