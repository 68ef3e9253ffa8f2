import { invalid } from '../errors.ts'
import { celProblem } from './cel-syntax.ts'
import { type Reader, reader } from './field.ts'

/** A CEL expression: it must parse; the meaning of its names is not checked (`api-decisions.md § Values`). */
export const celExpression: Reader<string> = reader(
  { type: 'string', description: 'A CEL expression.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    const problem = celProblem(value)
    if (problem !== undefined) {
      throw invalid(at, `not a CEL expression: ${problem.summary} at position ${problem.position}`)
    }
    return value
  },
)
