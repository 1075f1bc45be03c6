/** Rules about exports and imports of a file. */

import { literalText } from "./reference.ts";

const EXPORT_BY_NAME = { message: "Default export", hint: "Export it by name" };

/** A default export has no name to search for. `deno lint` wants one from its plugin. */
export const noDefaultExport: Deno.lint.Rule = {
  create(context) {
    if (context.filename.endsWith("/lint_plugin.ts")) return {};
    return {
      ExportDefaultDeclaration(node) {
        context.report({ node, ...EXPORT_BY_NAME });
      },
      ExportSpecifier(node) {
        const { exported } = node;
        const name = exported.type === "Identifier" ? exported.name : literalText(exported);
        if (name === "default") context.report({ node, ...EXPORT_BY_NAME });
      },
    };
  },
};

/**
 * Neither the bundler nor `check_imports.ts` can follow an import whose name is
 * computed: it would be missing from the binary and from every rule about imports.
 */
export const noComputedImport: Deno.lint.Rule = {
  create(context) {
    if (/_test\.ts$|\/(tools|tests|bench)\//.test(context.filename)) return {};
    return {
      ImportExpression(node) {
        if (node.source.type === "Literal") return;
        context.report({
          node,
          message: "Import of a computed name",
          hint: `Write the name out: import("./x.ts")`,
        });
      },
    };
  },
};
