/** A function of any signature. */
type AnyFunction = (...args: never[]) => unknown

/** Another function in the place of an exported one. */
interface FunctionSeam {
  readonly type: 'function'
  readonly name: string
  broken(original: AnyFunction): AnyFunction
}

/** Another method in the place of a public one. */
interface MethodSeam {
  readonly type: 'method'
  install(): void
}

/**
 * Where a mutant breaks the operator: at an exported function or a public method, so that no refactoring behind it
 * matters. The compiler checks the names and signatures.
 */
export type Seam = FunctionSeam | MethodSeam

/** Some cases of a suite of the matrix. */
export interface Aim {
  /** File in `test/faults/matrix` without `.test.ts`. */
  readonly suite: string
  /** Pattern for the episodes and cases to try. Default: half of a short run, evenly spread. */
  readonly cases?: string
  /** Whether to try all of these, as in a run of the whole matrix. Default: those of a short run. */
  readonly isWhole?: boolean
}

/** The operator with one rule of its protocol broken. */
export interface Mutant {
  /** The defect in the field's terms; unique. */
  readonly title: string
  readonly seams: readonly Seam[]
  /** Each of them must detect it. */
  readonly killers: readonly Aim[]
}

/** Replaces an exported function everywhere, in its own module as well. */
export function replaced<F extends AnyFunction>(target: F, broken: (original: F) => F): Seam {
  return { type: 'function', name: target.name, broken: broken as unknown as FunctionSeam['broken'] }
}

/** Replaces a method of every instance. */
export function replacedMethod<Instance, Name extends keyof Instance>(
  { prototype }: { readonly prototype: Instance },
  name: Name,
  broken: (original: Instance[Name]) => Instance[Name],
): Seam {
  return {
    type: 'method',
    install: () => {
      prototype[name] = broken(prototype[name])
    },
  }
}
