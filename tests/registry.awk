# Writes the main() of a test program: every `static?`-less function test_MODULE__CASE(void **state) of the file, in order.
/^void test_[a-z0-9_]+__[a-z0-9_]+\(void \*\*/ { sub(/^void /, ""); sub(/\(.*/, ""); names[++n] = $0 }
END {
	print "#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n#include <cmocka.h>"
	for (i = 1; i <= n; i++) print "void " names[i] "(void **state);"
	print "int main(void)\n{\n\tconst struct CMUnitTest tests[] = {"
	for (i = 1; i <= n; i++) print "\t\tcmocka_unit_test(" names[i] "),"
	print "\t};\n\treturn cmocka_run_group_tests(tests, NULL, NULL);\n}"
}
