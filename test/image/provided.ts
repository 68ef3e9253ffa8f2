import 'vitest'
import type { UnpackedImage } from './unpack.ts'

declare module 'vitest' {
  /** What `global-setup.ts` gives to the image suite; read with `inject`. */
  interface ProvidedContext {
    image: UnpackedImage
  }
}
