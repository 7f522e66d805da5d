"""The documentation says what the commands do: options, settings and records are all there."""
import csv
import io
import os
import re
import unittest

from cli import SOURCE, CommandTest

COMMANDS = sorted(name for name in os.environ["KOJAK_COMMANDS"].split(",") if name)


class Documentation(CommandTest):
    def page(self, name):
        """The manual page of a command: each subcommand has its own."""
        name = name.replace(" ", "-")
        text = (SOURCE / "docs" / "man" / f"{name}.1").read_text()
        if text.startswith(".so man1/"):
            text = (SOURCE / "docs" / "man" / text.split("/")[1].strip()).read_text()
        return text.replace("\\-", "-")

    def test_manual_pages_have_every_option(self):
        for name in COMMANDS:
            with self.subTest(name):
                page = self.page(name)
                text = self.run_command(*name.split(" "), "--help").out
                options = re.findall(r"(?m)^  (?:-\w \[ )?(--[\w-]+)", text)
                self.assertGreaterEqual(len(options), 3)
                for option in options:
                    self.assertIn(option, page)

    def test_manual_page_has_every_setting(self):
        rows = csv.DictReader(io.StringIO(self.run_command("kojak", "config", "--csv").out))
        for row in rows:
            self.assertIn(f".B {row['name']}\n", self.page("kojak config"))

    def test_format_page_has_the_list_of_records(self):
        records = self.run_command("elg_print", "--list-records").out
        self.assertGreater(records.count("\n| "), 60)
        self.assertIn(records.strip(), (SOURCE / "docs" / "format.md").read_text(),
                      "docs/format.md is behind: end it with what elg_print --list-records prints")


if __name__ == "__main__":
    unittest.main()
