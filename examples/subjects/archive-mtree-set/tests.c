
/*
 * A /set line whose value-less keyword (no '=') repeats made
 * process_global_set() compute a bogus length and over-read the option
 * buffer in remove_option().  Parsing must stay in bounds and succeed.
 */
DEFINE_TEST(test_read_format_mtree_global_set_no_value)
{
	static char archive[] =
	    "#mtree\n"
	    "/set nochange nochange\n"
	    "a type=file\n";
	struct archive_entry *ae;
	struct archive *a;

	assert((a = archive_read_new()) != NULL);
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_support_filter_all(a));
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_support_format_all(a));
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_open_memory(a, archive, sizeof(archive)));

	assertEqualIntA(a, ARCHIVE_OK, archive_read_next_header(a, &ae));
	assertEqualString(archive_entry_pathname(ae), "a");
	assertEqualInt(archive_entry_filetype(ae), AE_IFREG);

	assertEqualIntA(a, ARCHIVE_EOF, archive_read_next_header(a, &ae));
	assertEqualInt(1, archive_file_count(a));
	assertEqualIntA(a, ARCHIVE_OK, archive_read_close(a));
	assertEqualInt(ARCHIVE_OK, archive_read_free(a));
}

/* The same where the end of the keyword is the end of the file. */
DEFINE_TEST(test_read_format_mtree_global_set_no_value_at_end)
{
	static char archive[] =
	    "#mtree\n"
	    "a type=file\n"
	    "/set nochange nochange";
	struct archive_entry *ae;
	struct archive *a;

	assert((a = archive_read_new()) != NULL);
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_support_format_all(a));
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_open_memory(a, archive, sizeof(archive) - 1));
	assertEqualIntA(a, ARCHIVE_OK, archive_read_next_header(a, &ae));
	assertEqualString(archive_entry_pathname(ae), "a");
	assertEqualIntA(a, ARCHIVE_EOF, archive_read_next_header(a, &ae));
	assertEqualInt(ARCHIVE_OK, archive_read_free(a));
}

static void
unset_optional(const char *archive, int found)
{
	struct archive_entry *ae;
	struct archive *a;

	assert((a = archive_read_new()) != NULL);
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_support_format_all(a));
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_set_options(a, "mtree:checkfs"));
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_open_memory(a, archive, strlen(archive)));
	if (found) {
		assertEqualIntA(a, ARCHIVE_OK, archive_read_next_header(a, &ae));
		assertEqualString(archive_entry_pathname(ae), "missing");
	}
	assertEqualIntA(a, ARCHIVE_EOF, archive_read_next_header(a, &ae));
	assertEqualInt(ARCHIVE_OK, archive_read_free(a));
}

/* What was set twice is unset at once; an optional file that is missing is left out. */
DEFINE_TEST(test_read_format_mtree_global_unset_of_set_twice)
{
	unset_optional("#mtree\n/set optional\n/set optional\n/unset optional\nmissing type=file\n", 1);
}

DEFINE_TEST(test_read_format_mtree_global_unset_of_set_twice_in_a_line)
{
	unset_optional("#mtree\n/set optional optional\n/unset optional\nmissing type=file\n", 1);
}

DEFINE_TEST(test_read_format_mtree_global_unset)
{
	unset_optional("#mtree\n/set optional\n/unset optional\nmissing type=file\n", 1);
	unset_optional("#mtree\n/set optional\nmissing type=file\n", 0);
}

/* A keyword with a value replaces the value that it had. */
DEFINE_TEST(test_read_format_mtree_global_set_replaces)
{
	static char archive[] =
	    "#mtree\n"
	    "/set uid=7 gid=8\n"
	    "/set uid=9\n"
	    "a type=file\n";
	struct archive_entry *ae;
	struct archive *a;

	assert((a = archive_read_new()) != NULL);
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_support_format_all(a));
	assertEqualIntA(a, ARCHIVE_OK,
	    archive_read_open_memory(a, archive, sizeof(archive)));
	assertEqualIntA(a, ARCHIVE_OK, archive_read_next_header(a, &ae));
	assertEqualInt(archive_entry_uid(ae), 9);
	assertEqualInt(archive_entry_gid(ae), 8);
	assertEqualInt(ARCHIVE_OK, archive_read_free(a));
}
