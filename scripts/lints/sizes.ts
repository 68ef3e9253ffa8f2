import { MAX_SPEC_BYTES, sizeProblem } from '../crds/worst-size.ts'
import type { Lint } from './lint.ts'

/**
 * The largest legal spec fits into etcd, with room for the rest of the resource; lowering a limit later would break
 * larger specs.
 */
export const storableSpecs: Lint = (kinds) =>
  kinds.flatMap(({ kind, schema }) => {
    const spec = schema.properties?.spec
    const problem = spec && sizeProblem(spec, 'spec', MAX_SPEC_BYTES)
    return problem === undefined ? [] : [{ place: `${kind}.spec`, problem }]
  })
