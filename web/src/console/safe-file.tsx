// The button that saves a file with several payments. A Safe's Transaction Builder imports the file and pays them all.
import { saveFile } from '../ui/save.ts'

export function SafeFile({ safeBatch, name }: { safeBatch: object; name: string }) {
  return (
    <button
      type="button"
      className="button"
      onClick={() => saveFile(`${JSON.stringify(safeBatch, null, 2)}\n`, name, 'application/json')}
    >
      File for a Safe
    </button>
  )
}
