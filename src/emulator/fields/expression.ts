import { ParseError, parse } from '@marcbachmann/cel-js'
import { invalid } from '../errors.ts'
import { type Reader, reader } from './field.ts'

/** A CEL expression: it must parse; the meaning of its names is not checked (`api-decisions.md § Values`). */
export const celExpression: Reader<string> = reader(
  { type: 'string', description: 'A CEL expression.' },
  (value, at) => {
    if (typeof value !== 'string') throw invalid(at, 'must be a string')
    try {
      parse(value)
    } catch (error) {
      if (!(error instanceof ParseError)) throw error
      const position = error.range?.start
      throw invalid(at, `not a CEL expression: ${error.summary} at position ${position ?? 'unknown'}`)
    }
    return value
  },
)
